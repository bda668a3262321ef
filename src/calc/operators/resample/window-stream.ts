import {
  concatColumns,
  lowerBound,
  NO_POINTS,
  type PointColumns,
  sliceColumns,
  upperBound,
} from '../../../series/columns.ts'
import { type EdgePoint, valuesFromPoints } from '../../../series/interpolate.ts'
import type { SignalShape } from '../../../series/reads.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import type { Chunk, ChunkRange, Limit } from '../../graph/chunk.ts'

/**
 * Streams the points of windows. The batches hold the bounding points of the range too, so that nothing has to be
 * looked up; the point at a cut is held back and begins, or ends, the next chunk.
 * @param batches good points of the range and beside it, in its order; each batch ascends
 * @param start   from which on the signal is that of the points from there on alone
 */
export async function* windowChunks(
  batches: AsyncGenerator<PointColumns>,
  { from, to, order }: ChunkRange,
  shape: SignalShape,
  start: number,
): AsyncGenerator<Chunk, void> {
  const isAscending = order === 'asc'
  /** Read and not given yet, ascending; inside the range. */
  let waiting = NO_POINTS
  /** Bounding points of what was not given yet. */
  let prev: EdgePoint | null = null
  let next: EdgePoint | null = null
  /** The end of what was given. */
  let position = isAscending ? from : to
  for await (const batch of batches) {
    const [first, end] = [lowerBound(batch.times, from), lowerBound(batch.times, to)]
    const inside = sliceColumns(batch, first, end)
    // Of the points beside the range the nearest are the bounding points.
    const [before, after] = [edgePoint(batch, first - 1), edgePoint(batch, end)]
    prev = isAscending ? (before ?? prev) : (prev ?? before)
    next = isAscending ? (next ?? after) : (after ?? next)
    waiting = concatColumns(isAscending ? [waiting, inside] : [inside, waiting])
    const { length } = waiting.times
    if (length < 2) continue
    if (isAscending) {
      const cut = instantFromUs(waiting.times.at(-1)!)
      const beside = edgePoint(waiting, length - 1)
      yield windowChunk(position, cut, sliceColumns(waiting, 0, length - 1), prev, beside, shape, start)
      prev = edgePoint(waiting, length - 2)
      waiting = sliceColumns(waiting, length - 1, length)
      position = cut
    } else {
      // The point that is held back is excluded: whole microseconds make that one later.
      const cut = instantFromUs(waiting.times[0]! + 1)
      const beside = edgePoint(waiting, 0)
      yield windowChunk(cut, position, sliceColumns(waiting, 1, length), beside, next, shape, start)
      next = edgePoint(waiting, 1)
      waiting = sliceColumns(waiting, 0, 1)
      position = cut
    }
  }
  yield isAscending
    ? windowChunk(position, to, waiting, prev, next, shape, start)
    : windowChunk(from, position, waiting, prev, next, shape, start)
}

function windowChunk(
  from: Instant,
  to: Instant,
  raw: PointColumns,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  shape: SignalShape,
  start: number,
): Chunk {
  const side = (limit: Limit) => (limit === 'before' ? 'before' : 'at')
  const valuesOf: Chunk['valuesAt'] = (times, limit) =>
    valuesFromPoints(raw, prev, next, times, shape, side(limit))
  // All times that are asked, or none, lie behind the first point from the start on.
  if (to < start || (prev !== null && prev.time >= start)) return { from, to, raw, valuesAt: valuesOf }
  const first = raw.times[lowerBound(raw.times, start)] ?? next?.time ?? Number.POSITIVE_INFINITY
  const valuesAt: Chunk['valuesAt'] = (times, limit) =>
    withoutEarlier(valuesOf(times, limit), times, side(limit), start, first)
  const breaks = from <= start && start < to ? { breaks: Float64Array.of(start) } : {}
  return { from, to, raw, ...breaks, valuesAt }
}

/**
 * Values without those at an instant or later that come of points before it.
 * @param first the time of the first point from the instant on
 */
export function withoutEarlier(
  values: Float64Array,
  times: Float64Array,
  side: 'at' | 'before',
  start: number,
  first: number,
): Float64Array {
  const [from, to] =
    side === 'at'
      ? [lowerBound(times, start), lowerBound(times, first)]
      : [upperBound(times, start), upperBound(times, first)]
  return from < to ? values.fill(Number.NaN, from, to) : values
}

function edgePoint({ times, values }: PointColumns, index: number): EdgePoint | null {
  const time = times[index]
  return time === undefined ? null : { time, value: values[index]! }
}
