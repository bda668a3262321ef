import type { TooOldPoints, WriteBatch } from '../../historian/contract.ts'
import type { CatalogDraft, TagCatalog } from '../catalog/tag-catalog.ts'
import type { RetentionState } from '../manifest/retention-state.ts'
import type { ReadPace } from '../pause.ts'
import type { TagWatermarks } from '../retention/tag-watermarks.ts'
import { withoutTooOld } from '../retention/too-old.ts'
import type { RecordBody } from '../wal/group.ts'
import { RemovedSpans } from '../wal/removed-spans.ts'
import type { EngineErrors } from './engine-errors.ts'

/** What is to be written. */
export interface WriteRequest {
  readonly write: WriteBatch
  /** Whether nothing of it is to be written where some of its points are too old. */
  readonly isWhole: boolean
}

/** What becomes of a request: what it failed with, or its record; neither for one that changes nothing. */
export interface PlannedWrite {
  readonly error: Error | null
  readonly record: RecordBody | null
  /** Points that its record leaves out, or that are why it has none; `null` for none. */
  readonly tooOld: TooOldPoints | null
}

/** What of a state writes are worked out on. */
export interface WriteState {
  readonly catalog: TagCatalog
  /** Of the version. */
  readonly retention: RetentionState | null
  readonly watermarks: TagWatermarks
}

/**
 * Works out the records of several writes for one group, as if they came one after the other. A write with a missing
 * tag fails alone.
 */
export async function planWrites(
  requests: readonly WriteRequest[],
  state: WriteState,
  draft: CatalogDraft,
  pace: ReadPace,
  errors: EngineErrors,
): Promise<readonly PlannedWrite[]> {
  const planned: PlannedWrite[] = []
  for (const request of requests) planned.push(await planWrite(request, state, draft, pace, errors))
  return planned
}

async function planWrite(
  { write, isWhole }: WriteRequest,
  state: WriteState,
  draft: CatalogDraft,
  pace: ReadPace,
  errors: EngineErrors,
): Promise<PlannedWrite> {
  const { catalog } = state
  const isLong = write.tags.length > LONGEST_LIST
  const tags = (isLong ? null : catalog.findList(write.tags)) ?? new Uint32Array(write.tags.length)
  const absent: number[] = []
  if (tags.length > 0 && tags[0] === 0) {
    for (let i = 0; i < tags.length; i++) {
      const id = draft.idOf(write.tags[i]!)
      if (id !== 0) tags[i] = id
      else if (write.createTags) absent.push(i)
      else return { error: errors.tagNotFound(write.tags[i]!), record: null, tooOld: null }
      if (pace.isDue()) await pace.pause()
    }
  }
  const all = { tags, offsets: write.offsets, points: write.points }
  const watermarks =
    state.retention === null ? null : await watermarksOf(tags, write, state.retention, state, pace)
  const { points, tooOld } =
    watermarks === null ? { points: all, tooOld: null } : await withoutTooOld(all, watermarks, pace)
  if (isWhole && tooOld !== null) return { error: null, record: null, tooOld }
  // Only now: a write of which nothing is written makes no tags either.
  for (const i of absent) {
    const name = write.tags[i]!
    tags[i] = draft.idOf(name) || draft.create({ name, ...NO_METADATA }).id
    if (pace.isDue()) await pace.pause()
  }
  const changes = draft.take()
  if (points.points.times.length === 0 && changes === null) return { error: null, record: null, tooOld }
  return {
    error: null,
    record: {
      catalog: changes,
      removed: RemovedSpans.none,
      points: points.points.times.length === 0 ? null : points,
    },
    tooOld,
  }
}

/**
 * The watermarks of the tags of a request, 0 for those that are to be made. A tag that was not looked at before is
 * matched with the rules.
 */
async function watermarksOf(
  tags: Uint32Array,
  { tags: names }: WriteBatch,
  retention: RetentionState,
  { catalog, watermarks }: WriteState,
  pace: ReadPace,
): Promise<Float64Array> {
  const found = new Float64Array(tags.length)
  for (let i = 0; i < tags.length; i++) {
    const id = tags[i]!
    const name = names[i]!
    // What is made in this group has no id in the catalog yet.
    const isNew = id === 0 || id >= catalog.entries.nextId
    found[i] = isNew ? watermarks.ofName(retention, name) : watermarks.of(retention, catalog, id, name)
    if (pace.isDue()) await pace.pause()
  }
  return found
}

/** Longer lists of tags are looked up in slices, between which others are let in. */
const LONGEST_LIST = 20_000

const NO_METADATA = { description: null, units: null, stepped: false }
