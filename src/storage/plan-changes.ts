import { idsOf } from './catalog.ts'
import type { Draft, Needs } from './draft.ts'
import type { HistorianParts } from './historian-parts.ts'
import { planDeletes, type Span } from './plan-deletes.ts'
import { StoredBlocks } from './tag-blocks.ts'
import type { TagRecord } from './tag-record.ts'
import { removeAllBlocks } from './tag-removal.ts'

/** A tag's metadata as it is stored. */
export type TagFields = Omit<TagRecord, 'id'>

/** A stretch of a tag's time, [from, to). */
export interface TagSpan extends Span {
  readonly tag: string
}

/** Of a change that is not about points. */
export const NO_NEEDS: Needs = { tags: () => [], damage: 'throw' }

/** Works out new and overwritten metadata; tells for each entry whether it was stored, or exists, or is missing. */
export async function planPuts(
  { catalog, snapshot }: Draft,
  entries: readonly TagFields[],
  mode: 'create' | 'update' | 'upsert',
): Promise<readonly ('stored' | 'exists' | 'missing')[]> {
  const outcomes: ('stored' | 'exists' | 'missing')[] = []
  for (const fields of entries) {
    const before = catalog.find(fields.name)
    if (before !== null && mode === 'create') outcomes.push('exists')
    else if (before === null && mode === 'update') outcomes.push('missing')
    else {
      if (before === null) catalog.create(fields)
      else catalog.change(before, { ...fields, id: before.id })
      outcomes.push('stored')
    }
    if (snapshot.isDue()) await snapshot.rest()
  }
  return outcomes
}

/** What cutting the blocks of those tags takes. */
export function needsOfSpans({ catalog }: HistorianParts, ranges: readonly TagSpan[]): Needs {
  const names = ranges.map(({ tag }) => tag)
  return { tags: () => idsOf(names, (name) => catalog.find(name)), damage: 'throw' }
}

/** Works out the removal of points and tells how many of each range; one in several ranges counts for the first. */
export async function planSpanDeletes(
  { changes, snapshot, removeSpans }: Draft,
  { catalog, access }: HistorianParts,
  ranges: readonly TagSpan[],
  dryRun: boolean,
): Promise<readonly number[]> {
  const counts = ranges.map(() => 0)
  const byTag = Map.groupBy(
    ranges.map((range, index) => ({ ...range, index })),
    ({ tag }) => tag,
  )
  for (const [tag, spans] of byTag) {
    const record = catalog.find(tag)
    if (record === null) continue
    const blocks = new StoredBlocks(access, snapshot, record.id)
    if (!dryRun) removeSpans(spans.map(({ from, to }) => ({ tag: record.id, from, to })))
    const found = await planDeletes(dryRun ? null : changes, blocks, record.id, spans, snapshot)
    spans.forEach(({ index }, place) => {
      counts[index] = found[place]!
    })
  }
  return counts
}

/** What removing tags takes: a damaged one can be removed, too. */
export function needsOfTags({ catalog }: HistorianParts, names: readonly string[]): Needs {
  return { tags: () => idsOf(names, (name) => catalog.find(name)), damage: 'leave-out' }
}

/** Works out the removal of tags and tells how many points each had. TAG_NOT_FOUND for a missing one. */
export async function planTagDeletes(
  { changes, catalog, snapshot, removeSpans }: Draft,
  parts: HistorianParts,
  names: readonly string[],
  dryRun: boolean,
): Promise<readonly number[]> {
  const records = names.map((name) => existing(catalog, parts, name))
  const counts: number[] = []
  for (const record of records) {
    const target = dryRun ? null : changes
    counts.push(await removeAllBlocks(target, parts.access, record.id, snapshot))
    if (dryRun) continue
    catalog.remove(record)
    removeSpans([{ tag: record.id, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }])
  }
  return counts
}

/** Works out renames. TAG_NOT_FOUND for a missing tag, TAG_EXISTS for a name that stays or becomes another's. */
export async function planRenames(
  { catalog }: Draft,
  parts: HistorianParts,
  renames: readonly { readonly from: string; readonly to: string }[],
  dryRun: boolean,
): Promise<void> {
  const found = renames.map(({ from, to }) => ({ record: existing(catalog, parts, from), to }))
  const leaving = new Set(renames.map(({ from }) => from))
  const taken = new Set<string>()
  for (const { to } of renames) {
    if (taken.has(to) || (!leaving.has(to) && catalog.find(to) !== null)) throw parts.errors.tagExists(to)
    taken.add(to)
  }
  if (!dryRun) catalog.rename(found)
}

function existing(catalog: Draft['catalog'], { errors }: HistorianParts, tag: string): TagRecord {
  const record = catalog.find(tag)
  if (record === null) throw errors.tagNotFound(tag)
  return record
}
