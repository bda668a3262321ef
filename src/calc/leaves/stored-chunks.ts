import {
  concatColumns,
  NO_POINTS,
  type PointColumns,
  reverseColumns,
  sliceColumns,
} from '../../series/columns.ts'
import {
  type EdgePoint,
  goodPoints,
  isGood,
  signalEnds,
  valuesFromGoodPoints,
} from '../../series/interpolate.ts'
import type { RangeResult, SignalShape } from '../../series/reads.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { Chunk, ChunkRange, Limit } from '../graph/chunk.ts'
import { edgeAt, type RawRange } from '../graph/point-source.ts'

/** Where a stream gets its points from. */
export interface StreamSource {
  /** A page of raw points; nothing, and no more, of an empty range. */
  page(range: RawRange): Promise<RangeResult>
  /** The good point next to an instant. */
  edge(find: 'before' | 'after-or-at', at: Instant): Promise<EdgePoint | null>
}

/** Points that the edges of a stream can cost: the bounding values of both ends, and of one cut. */
export const EDGE_POINTS = 6

/**
 * Streams a stored tag. Each chunk needs the good points beside it: where a page was cut, its last good point is held
 * back and begins the next chunk, so that nothing is fetched twice and no bounding value must be looked up. Only a
 * first chunk that stands alone looks up the bounding value at its cut, since it should give all points that it
 * fetched. Where raw points alone are wanted nothing is looked up or held back.
 */
export async function* storedChunks(
  source: StreamSource,
  shape: SignalShape,
  range: ChunkRange,
): AsyncGenerator<Chunk, void> {
  const { from, to, order, extent, page: limit, rawOnly } = range
  const isAscending = order === 'asc'
  /** What was not fetched yet. */
  let left = { from, to }
  const readPage = async (): Promise<RangeResult> => {
    const page = await source.page({ ...left, order, limit })
    const last = page.points.times.at(-1)
    if (last !== undefined)
      left = isAscending ? { ...left, from: instantFromUs(last + 1) } : { ...left, to: instantFromUs(last) }
    return page
  }
  const edges = rawOnly
    ? [null, null]
    : Promise.all([source.edge('before', from), source.edge('after-or-at', to)])
  /** Good points beside what was not given yet. */
  let [[prev, next], page] = await Promise.all([edges, readPage()])
  /** Fetched but not given yet, ascending: begins ('asc') or ends ('desc') with a good point. */
  let held = NO_POINTS
  /** The end of what was given. */
  let position = isAscending ? from : to
  for (; ; page = await readPage()) {
    const parts = isAscending ? [held, page.points] : [reverseColumns(page.points), held]
    const points = concatColumns(parts)
    if (!page.more) {
      yield isAscending
        ? chunkOf(shape, position, to, points, prev, next)
        : chunkOf(shape, from, position, points, prev, next)
      return
    }
    const { length } = points.times
    // The good point next to what is left, and how many points come after it.
    const good = isAscending ? findLastGood(points) : findFirstGood(points)
    const beyond = isAscending ? length - 1 - good : good
    let cut: number
    let beside: EdgePoint | null
    if (rawOnly || (extent === 'first' && beyond > 0)) {
      cut = isAscending ? length : 0
      if (rawOnly) beside = null
      else
        beside = await (isAscending ? source.edge('after-or-at', left.from) : source.edge('before', left.to))
    } else if (beyond < length - 1) {
      cut = isAscending ? good : good + 1
      beside = edgeAt(points, good)
    } else {
      // No good point to end a chunk at: BAD points are few, so reading on is better than looking it up.
      held = points
      continue
    }
    const [early, late] = [sliceColumns(points, 0, cut), sliceColumns(points, cut, length)]
    if (isAscending) {
      const end = instantFromUs(late.times[0] ?? left.from)
      yield chunkOf(shape, position, end, early, prev, beside)
      prev = edgeAt(early, findLastGood(early)) ?? prev
      held = late
      position = end
    } else {
      // The points held back are excluded: whole microseconds make that one later.
      const start = cut > 0 ? instantFromUs(early.times[cut - 1]! + 1) : left.to
      yield chunkOf(shape, start, position, late, beside, next)
      next = edgeAt(late, findFirstGood(late)) ?? next
      held = early
      position = start
    }
  }
}

/** A chunk from its raw points and the good points beside it. */
export function chunkOf(
  shape: SignalShape,
  from: Instant,
  to: Instant,
  raw: PointColumns,
  prev: EdgePoint | null,
  next: EdgePoint | null,
): Chunk {
  let good: PointColumns | null = null
  const valuesAt = (times: Float64Array, limit: Limit): Float64Array => {
    good ??= goodPoints(raw)
    return valuesFromGoodPoints(good, prev, next, times, shape, limit)
  }
  const chunk = {
    from,
    to,
    raw,
    isTrueToRaw: true as const,
    ...(prev === null && { emptyUntil: firstValue(raw, to, next) }),
    valuesAt,
  }
  if (shape.maxGapUs === undefined) return chunk
  good = goodPoints(raw)
  return { ...chunk, breaks: signalEnds(good.times, prev, next, from, to, shape) }
}

/** Where a signal begins that has no value before a chunk up to `to`; after its end where it does not begin in it. */
function firstValue(raw: PointColumns, to: Instant, next: EdgePoint | null): number {
  const first = findFirstGood(raw)
  return first < raw.times.length ? raw.times[first]! : Math.min(next?.time ?? to + 1, to + 1)
}

/** Index of the last good point, -1 when there is none. */
function findLastGood(points: PointColumns): number {
  let index = points.times.length - 1
  while (index >= 0 && !isGood(points, index)) index--
  return index
}

/** Index of the first good point, the length when there is none. */
function findFirstGood(points: PointColumns): number {
  let index = 0
  while (index < points.times.length && !isGood(points, index)) index++
  return index
}
