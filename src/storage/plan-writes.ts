import { concatColumns, type PointColumns } from '../series/columns.ts'
import type { CatalogDraft } from './catalog.ts'
import type { Changes } from './changes.ts'
import { planPoints } from './plan-points.ts'
import type { Snapshot } from './snapshot.ts'
import { sortPoints } from './sort-points.ts'
import { type BlockAccess, TagBlocks } from './tag-blocks.ts'

/** One request to store points. */
export interface Write {
  readonly tags: readonly { readonly tag: string; readonly points: PointColumns }[]
  /** Whether missing tags are made, without description and units and not stepped. */
  readonly createTags: boolean
}

interface TagWrite {
  readonly id: number
  readonly isNew: boolean
  readonly parts: PointColumns[]
}

/**
 * Works out several writes for one commit, as if they came one after the other. A write with a missing tag fails alone.
 * @returns for each write null or what it failed with
 * Throws Damage, and then nothing of it may be committed.
 */
export async function planWrites(
  writes: readonly Write[],
  draft: { readonly changes: Changes; readonly catalog: CatalogDraft; readonly snapshot: Snapshot },
  access: BlockAccess,
  missing: (tag: string) => Error,
): Promise<readonly (Error | null)[]> {
  const { changes, catalog, snapshot } = draft
  const byTag = new Map<number, TagWrite>()
  const outcomes: (Error | null)[] = []
  for (const write of writes) {
    const absent = write.createTags ? undefined : await firstMissing(write, catalog, snapshot)
    if (absent !== undefined) {
      outcomes.push(missing(absent))
      continue
    }
    outcomes.push(null)
    for (const { tag, points } of write.tags) {
      const record = catalog.find(tag) ?? catalog.create({ name: tag, ...NO_METADATA })
      if (points.times.length > 0) {
        const tagWrite = byTag.get(record.id)
        if (tagWrite === undefined) {
          byTag.set(record.id, { id: record.id, isNew: catalog.isNew(record.id), parts: [points] })
        } else tagWrite.parts.push(points)
      }
      if (snapshot.isDue()) await snapshot.rest()
    }
  }
  for (const { id, isNew, parts } of byTag.values()) {
    const points = sortPoints(concatColumns(parts))
    planPoints(changes, new TagBlocks(access, snapshot, id), id, isNew, points)
    if (snapshot.isDue()) await snapshot.rest()
  }
  return outcomes
}

const NO_METADATA = { description: null, units: null, stepped: false }

async function firstMissing(
  write: Write,
  catalog: CatalogDraft,
  snapshot: Snapshot,
): Promise<string | undefined> {
  for (const { tag } of write.tags) {
    if (catalog.find(tag) === null) return tag
    if (snapshot.isDue()) await snapshot.rest()
  }
  return undefined
}
