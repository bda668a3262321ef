import type { CatalogRef } from '../catalog/tag-catalog.ts'
import type { PartInfo } from '../parts/part.ts'
import type { RetentionState } from './retention-state.ts'

/** A WAL segment of an earlier owner, of which so many bytes count. */
export interface AcceptedSegment {
  readonly name: string
  readonly bytes: number
}

/**
 * What is there of a historian at one moment: what the manifest says when its edits are applied in order. Immutable;
 * each edit makes the next version.
 */
export interface Version {
  /** Number of the edit, from 1, over all owners. */
  readonly number: number
  /** Of the owner that wrote it. */
  readonly token: number
  readonly historian: string
  /** Made with the historian: random, 32 hexadecimal digits. */
  readonly id: string
  /** Sorted by lastSequence, then by firstTime. */
  readonly parts: readonly PartInfo[]
  readonly catalog: CatalogRef | null
  /** All WAL records up to this number stand in parts and catalog. */
  readonly flushedSequence: number
  /** WAL segments of this generation and earlier ones are in parts and catalog wholly. */
  readonly flushedGeneration: number
  /** Segments of earlier owners that still count, in order; those of the owner itself follow by their numbers. */
  readonly accepted: readonly AcceptedSegment[]
  /** Segments that only the archive still needs, in order: they are flushed, and go when they are archived. */
  readonly kept: readonly AcceptedSegment[]
  /**
   * Of a copy that nobody has owned yet: when it was made, in microseconds since 1970. All that was acknowledged before
   * is in it. Its first owner makes a historian of its own of it, with another id: what is written to the two goes
   * apart, and their files and archives must not be taken for each other's.
   */
  readonly copiedAt?: number
  /**
   * Id of the historian in whose place this one is: of the copy that it was made of, or of the one that was in the
   * folder before, where it took that one's place on purpose. Whoever knows that one only accepts this one for it.
   */
  readonly follows?: string
  /** What retention removed; `null` where there never was any. */
  readonly retention: RetentionState | null
}

/** A change of the version; what is left out stays. */
export interface Edit {
  readonly add?: readonly PartInfo[]
  /** Names. */
  readonly remove?: readonly string[]
  readonly catalog?: CatalogRef
  readonly flushedSequence?: number
  readonly flushedGeneration?: number
  readonly accepted?: readonly AcceptedSegment[]
  readonly kept?: readonly AcceptedSegment[]
  readonly retention?: RetentionState | null
}

/** The version after an edit. Throws Error for an edit that contradicts it (a bug). */
export function applyEdit(version: Version, edit: Edit): Version {
  const removed = new Set(edit.remove)
  const kept = version.parts.filter(({ name }) => !removed.delete(name))
  if (removed.size > 0) throw new Error(`the manifest has no part ${[...removed].join(', ')}`)
  const parts = [...kept, ...(edit.add ?? [])]
  parts.sort((a, b) => a.lastSequence - b.lastSequence || a.firstTime - b.firstTime)
  return {
    ...version,
    number: version.number + 1,
    parts,
    catalog: edit.catalog ?? version.catalog,
    flushedSequence: edit.flushedSequence ?? version.flushedSequence,
    flushedGeneration: edit.flushedGeneration ?? version.flushedGeneration,
    accepted: edit.accepted ?? version.accepted,
    kept: edit.kept ?? version.kept,
    retention: edit.retention === undefined ? version.retention : edit.retention,
  }
}
