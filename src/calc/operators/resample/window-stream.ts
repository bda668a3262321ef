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
import type { Chunk, ChunkRange, ChunkStream, Limit } from '../../graph/chunk.ts'

/**
 * Streams the points of windows. The batches hold the bounding points of the range too, so that nothing has to be
 * looked up; the point at a cut is held back and begins, or ends, the next chunk.
 */
export class WindowStream implements ChunkStream {
  readonly #batches: AsyncGenerator<PointColumns>
  readonly #range: ChunkRange
  readonly #shape: SignalShape
  /** Read and not given yet, ascending; inside the range. */
  #waiting: PointColumns = NO_POINTS
  /** Bounding points of what was not given yet. */
  #prev: EdgePoint | null = null
  #next: EdgePoint | null = null
  /** The end of what was given. */
  #position: Instant
  #isOver = false
  readonly #start: number

  /**
   * @param batches good points of the range and beside it, in its order; each batch ascends
   * @param start   from which on the signal is that of the points from there on alone
   */
  constructor(batches: AsyncGenerator<PointColumns>, range: ChunkRange, shape: SignalShape, start: number) {
    this.#start = start
    this.#batches = batches
    this.#range = range
    this.#shape = shape
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<Chunk | null> {
    if (this.#isOver) return null
    const { from, to, order } = this.#range
    while (this.#waiting.times.length < 2) {
      const { value: batch } = await this.#batches.next()
      if (batch === undefined) {
        this.#isOver = true
        const reach = order === 'asc' ? { from: this.#position, to } : { from, to: this.#position }
        return this.#chunk(reach, this.#waiting, this.#prev, this.#next)
      }
      this.#take(batch)
    }
    return order === 'asc' ? this.#cutLast() : this.#cutFirst()
  }

  /** Adds the points of a batch that are in the range; of the others the nearest are the bounding points. */
  #take(batch: PointColumns): void {
    const { from, to, order } = this.#range
    const [first, end] = [lowerBound(batch.times, from), lowerBound(batch.times, to)]
    const inside = sliceColumns(batch, first, end)
    const [before, after] = [edgePoint(batch, first - 1), edgePoint(batch, end)]
    if (order === 'asc') {
      this.#prev = before ?? this.#prev
      this.#next ??= after
      this.#waiting = concatColumns([this.#waiting, inside])
    } else {
      this.#prev ??= before
      this.#next = after ?? this.#next
      this.#waiting = concatColumns([inside, this.#waiting])
    }
  }

  #cutLast(): Chunk {
    const points = this.#waiting
    const last = points.times.length - 1
    const next = edgePoint(points, last)!
    const reach = { from: this.#position, to: instantFromUs(next.time) }
    const chunk = this.#chunk(reach, sliceColumns(points, 0, last), this.#prev, next)
    this.#prev = edgePoint(points, last - 1)
    this.#waiting = sliceColumns(points, last, last + 1)
    this.#position = reach.to
    return chunk
  }

  #cutFirst(): Chunk {
    const points = this.#waiting
    const prev = edgePoint(points, 0)!
    // The point that is held back is excluded: whole microseconds make that one later.
    const reach = { from: instantFromUs(prev.time + 1), to: this.#position }
    const chunk = this.#chunk(reach, sliceColumns(points, 1, points.times.length), prev, this.#next)
    this.#next = edgePoint(points, 1)
    this.#waiting = sliceColumns(points, 0, 1)
    this.#position = reach.from
    return chunk
  }

  #chunk(
    reach: { readonly from: Instant; readonly to: Instant },
    raw: PointColumns,
    prev: EdgePoint | null,
    next: EdgePoint | null,
  ): Chunk {
    const side = (limit: Limit) => (limit === 'before' ? 'before' : 'at')
    const start = this.#start
    const valuesOf: Chunk['valuesAt'] = (times, limit) =>
      valuesFromPoints(raw, prev, next, times, this.#shape, side(limit))
    // All times that are asked, or none, lie behind the first point from the start on.
    if (reach.to < start || (prev !== null && prev.time >= start))
      return { ...reach, raw, valuesAt: valuesOf }
    const first = raw.times[lowerBound(raw.times, start)] ?? next?.time ?? Number.POSITIVE_INFINITY
    const valuesAt: Chunk['valuesAt'] = (times, limit) =>
      withoutEarlier(valuesOf(times, limit), times, side(limit), start, first)
    const breaks = reach.from <= start && start < reach.to ? { breaks: Float64Array.of(start) } : {}
    return { ...reach, raw, ...breaks, valuesAt }
  }
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
