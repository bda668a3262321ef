import { type PointColumns, sliceColumns } from '../../series/columns.ts'
import { sortInSteps } from '../blocks/sort-in-steps.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'
import type { PointMemory } from './point-memory.ts'
import { type PinnedRuns, TagPoints } from './tag-points.ts'

/** Points that come together from which on those out of order are sorted before they are applied. */
export const LARGE_WRITE = 65_536
/**
 * The same for points in order, which are copied in steps: a million in one turn takes some 20 ms, and 80 where that is
 * not compiled yet. Small writes that are committed together have fewer.
 */
const LARGE_IN_ORDER = 524_288
/** A tag is looked at when so many of its points come at once. */
const LEAST_POINTS = 64
/** Tags with more points than those that come, by this factor, are left: all of theirs would be copied. */
const MOST_BEFORE = 16
/** Tags, and times, that are looked at in a step. */
const TAGS_OF_STEP = 1_024
const POINTS_OF_LOOK = 131_072

/** What a table of points has of a tag. */
export interface PointsBefore {
  readonly count: number
  /** Time of the last point, NaN where some are out of order; -Infinity without any. */
  readonly last: number
  /** The points, which stay until `unpin`. */
  pin(): PinnedRuns
}

/**
 * Tags with all points that they will have when some that come together are applied: worked out in steps before that,
 * so that applying them only changes hands. Very many points that are out of order, of a request of up to 64 MiB, would
 * hold up the event loop for most of a second, in the request and in the next read of the tag.
 * @param writes  in the order in which they count
 * @param before  what there is of a tag; the points are the same until the end, whoever looks at them
 * @param mostFew points of a tag that needs no memory of its own
 */
export function* prepareTags(
  writes: readonly PointsOfTags[],
  memory: PointMemory,
  before: (tag: number) => PointsBefore,
  mostFew: (tag: number) => number,
): Generator<void, ReadonlyMap<number, TagPoints>> {
  const prepared = new Map<number, TagPoints>()
  const total = writes.reduce((sum, { points }) => sum + points.times.length, 0)
  for (const [tag, columns] of yield* columnsByTag(writes, mostFew)) {
    const known = before(tag)
    const count = columns.reduce((sum, { times }) => sum + times.length, 0)
    const isInOrder = yield* areInOrder(columns, known.last)
    if (isInOrder ? total < LARGE_IN_ORDER : count * MOST_BEFORE < known.count) continue
    const { runs, unpin } = known.pin()
    try {
      const sorted = yield* sortInSteps(columns)
      prepared.set(tag, yield* TagPoints.ofRuns(memory, [...runs, ...sorted]))
    } finally {
      unpin()
    }
    yield
  }
  return prepared
}

/** All points that come of each tag of which many come, in the order in which they count. */
function* columnsByTag(
  writes: readonly PointsOfTags[],
  mostFew: (tag: number) => number,
): Generator<void, ReadonlyMap<number, readonly PointColumns[]>> {
  const counts = new Map<number, number>()
  for (const { tags, offsets } of writes) {
    for (let i = 0; i < tags.length; i++) {
      const count = offsets[i + 1]! - offsets[i]!
      const isMany = count >= LEAST_POINTS && (writes.length > 1 || count > mostFew(tags[i]!))
      if (isMany) counts.set(tags[i]!, (counts.get(tags[i]!) ?? 0) + count)
      if (i % TAGS_OF_STEP === TAGS_OF_STEP - 1) yield
    }
  }
  const columns = new Map<number, PointColumns[]>()
  for (const [tag, count] of counts) if (count > mostFew(tag)) columns.set(tag, [])
  if (columns.size === 0) return columns
  for (const { tags, offsets, points } of writes) {
    for (let i = 0; i < tags.length; i++) {
      const start = offsets[i]!
      const end = offsets[i + 1]!
      if (start < end) columns.get(tags[i]!)?.push(sliceColumns(points, start, end))
      if (i % TAGS_OF_STEP === TAGS_OF_STEP - 1) yield
    }
  }
  return columns
}

/** Whether each point is newer than the one before. @param last  time of the one before the first; NaN for no */
function* areInOrder(all: readonly PointColumns[], last: number): Generator<void, boolean> {
  let before = last
  for (const { times } of all) {
    for (let start = 0; start < times.length; start += POINTS_OF_LOOK) {
      const end = Math.min(times.length, start + POINTS_OF_LOOK)
      for (let i = start; i < end; i++) {
        const time = times[i]!
        if (!(time > before)) return false
        before = time
      }
      if (end - start === POINTS_OF_LOOK) yield
    }
  }
  return true
}
