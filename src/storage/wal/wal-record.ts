import type { PointColumns } from '../../series/columns.ts'
import type { RemovedSpans } from './removed-spans.ts'

/** Points of tags by their ids, as they were accepted: in any order, the same time more than once allowed. */
export interface PointsOfTags {
  readonly tags: Uint32Array
  /** One more than `tags`, ascending from 0: where the points of each tag begin. */
  readonly offsets: Uint32Array
  readonly points: PointColumns
}

/**
 * What one request did, as one record of the WAL: first what it changed of tags, then what it removed, then its points.
 * It counts wholly or not at all.
 */
export interface WalRecord {
  /** From 1, without gaps, over all owners: the order in which requests count. */
  readonly sequence: number
  /** Changes of the catalog, as CatalogDraft.take gave them; `null` for none. */
  readonly catalog: Uint8Array | null
  readonly removed: RemovedSpans
  /** `null` for none. */
  readonly points: PointsOfTags | null
}

/** A place in the WAL: all before it counts. Segments are numbered from 1 for each owner. */
export interface WalPosition {
  readonly token: number
  readonly segment: number
  /** Bytes of that segment. */
  readonly offset: number
  /** Number of the last record before it; that of the last one that is flushed where the WAL has none. */
  readonly lastSequence: number
}
