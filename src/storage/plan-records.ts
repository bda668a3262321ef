import type { WriteBatch } from '../historian/contract.ts'
import type { CatalogDraft } from './catalog.ts'
import type { HistorianErrors } from './historian-errors.ts'
import type { JournalPoints } from './journal/record.ts'
import type { Snapshot } from './snapshot.ts'

/** What becomes of a request: what it failed with, or its record. */
export type PlannedWrite =
  | { readonly error: Error; readonly record: null }
  | { readonly error: null; readonly record: JournalPoints }

/**
 * Works out the journal records of several writes for one commit, as if they came one after the other. A write with a missing
 * tag, or one that `refused` has an error for, fails alone.
 * Throws Damage, and then nothing of it may be committed.
 */
export async function planRecords(
  writes: readonly WriteBatch[],
  { catalog, snapshot }: { readonly catalog: CatalogDraft; readonly snapshot: Snapshot },
  errors: HistorianErrors,
  refused: ((id: number, tag: string) => Error | null) | null,
): Promise<readonly PlannedWrite[]> {
  const planned: PlannedWrite[] = []
  for (const write of writes) {
    const known = refused === null ? catalog.findList(write.tags) : null
    if (known !== null) {
      planned.push({ error: null, record: { tags: known, offsets: write.offsets, points: write.points } })
      continue
    }
    const tags = new Uint32Array(write.tags.length)
    const absent: number[] = []
    let error: Error | null = null
    for (let i = 0; i < tags.length && error === null; i++) {
      const name = write.tags[i]!
      const found = catalog.find(name)
      if (found !== null) {
        tags[i] = found.id
        if (refused !== null) error = refused(found.id, name)
      } else if (write.createTags) absent.push(i)
      else error = errors.tagNotFound(name)
      if (snapshot.isDue()) await snapshot.rest()
    }
    if (error !== null) {
      planned.push({ error, record: null })
      continue
    }
    // Only now: a write that fails makes no tags either.
    for (const i of absent) {
      const name = write.tags[i]!
      tags[i] = (catalog.find(name) ?? catalog.create({ name, ...NO_METADATA })).id
      if (snapshot.isDue()) await snapshot.rest()
    }
    if (absent.length === 0) catalog.rememberList(write.tags, tags)
    planned.push({ error: null, record: { tags, offsets: write.offsets, points: write.points } })
  }
  return planned
}

const NO_METADATA = { description: null, units: null, stepped: false }
