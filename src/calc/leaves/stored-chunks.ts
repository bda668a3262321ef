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
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream, Limit } from '../graph/chunk.ts'
import type { PointSource, StoredTag } from '../graph/point-source.ts'

/** Where a stream gets its points from: a call's source, or what has points of its own. */
export type StreamSource = Pick<PointSource, 'range' | 'page' | 'boundingValues'>

/** Points that the edges of a stream can cost: the bounding values of both ends, and of one cut. */
export const EDGE_POINTS = 6

/**
 * Streams a stored tag. Each chunk needs the good points beside it: where a page was cut, its last good point is held
 * back and begins the next chunk, so that nothing is fetched twice and no bounding value must be looked up. Only a
 * first chunk that stands alone looks up the bounding value at its cut, since it should give all points that it
 * fetched.
 */
export class StoredStream implements ChunkStream {
  readonly #source: StreamSource
  readonly #tag: StoredTag
  readonly #shape: SignalShape
  readonly #range: ChunkRange
  /** Where the points that were fetched end: what is left is [from, to). */
  #from: Instant
  #to: Instant
  /** Fetched but not given yet, on the side of what is left: begins ('asc') or ends ('desc') with a good point. */
  #held: PointColumns = NO_POINTS
  /** The end of what was given. */
  #position: Instant
  /** Good points beside what was not given yet; `undefined` before the first chunk. */
  #prev: EdgePoint | null | undefined
  #next: EdgePoint | null | undefined
  #done = false

  constructor(source: StreamSource, tag: StoredTag, shape: SignalShape, range: ChunkRange) {
    this.#source = source
    this.#tag = tag
    this.#shape = shape
    this.#range = range
    this.#from = range.from
    this.#to = range.to
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<Chunk | null> {
    if (this.#done) return null
    const edges = this.#prev === undefined ? this.#readEdges() : null
    const first = this.#readPage()
    await Promise.all([edges, first])
    return this.#range.order === 'asc' ? this.#ascending(await first) : this.#descending(await first)
  }

  async #ascending(page: RangeResult): Promise<Chunk> {
    const parts = [this.#held, page.points]
    let more = page.more
    while (more) {
      const points = concatColumns(parts)
      const lastGood = findLastGood(points)
      const length = points.times.length
      if (this.#range.extent === 'first' && lastGood < length - 1) {
        return this.#cutAscending(points, length, await this.#goodFrom(this.#from))
      }
      if (lastGood >= 1) {
        const next = { time: points.times[lastGood]!, value: points.values[lastGood]! }
        return this.#cutAscending(points, lastGood, next)
      }
      // No good point to end a chunk at: BAD points are few, so reading on is better than looking it up.
      const result = await this.#readPage()
      parts.push(result.points)
      more = result.more
    }
    this.#done = true
    return this.#chunk(this.#position, this.#range.to, concatColumns(parts), this.#prev!, this.#next!)
  }

  /** Gives the points before index `end`; `next` is the first good point from there on. */
  #cutAscending(points: PointColumns, end: number, next: EdgePoint | null): Chunk {
    const given = sliceColumns(points, 0, end)
    this.#held = sliceColumns(points, end, points.times.length)
    const from = this.#position
    this.#position = end < points.times.length ? instantFromUs(points.times[end]!) : this.#from
    const chunk = this.#chunk(from, this.#position, given, this.#prev!, next)
    const last = findLastGood(given)
    if (last >= 0) this.#prev = { time: given.times[last]!, value: given.values[last]! }
    return chunk
  }

  async #descending(page: RangeResult): Promise<Chunk> {
    const parts = [reverseColumns(page.points), this.#held]
    let more = page.more
    while (more) {
      const points = concatColumns(parts)
      const length = points.times.length
      const firstGood = findFirstGood(points)
      if (this.#range.extent === 'first' && firstGood > 0) {
        return this.#cutDescending(points, 0, await this.#goodBefore(this.#to))
      }
      if (firstGood <= length - 2) {
        const prev = { time: points.times[firstGood]!, value: points.values[firstGood]! }
        return this.#cutDescending(points, firstGood + 1, prev)
      }
      const result = await this.#readPage()
      parts.unshift(reverseColumns(result.points))
      more = result.more
    }
    this.#done = true
    return this.#chunk(this.#range.from, this.#position, concatColumns(parts), this.#prev!, this.#next!)
  }

  /** Gives the points from index `start` on; `prev` is the last good point before. */
  #cutDescending(points: PointColumns, start: number, prev: EdgePoint | null): Chunk {
    const given = sliceColumns(points, start, points.times.length)
    this.#held = sliceColumns(points, 0, start)
    const to = this.#position
    // The points held back are excluded: whole microseconds make that one later.
    this.#position = start > 0 ? instantFromUs(points.times[start - 1]! + 1) : this.#to
    const chunk = this.#chunk(this.#position, to, given, prev, this.#next!)
    const first = findFirstGood(given)
    if (first < given.times.length) {
      this.#next = { time: given.times[first]!, value: given.values[first]! }
    }
    return chunk
  }

  /** Reads on; what is left to read shrinks by it. */
  async #readPage(): Promise<RangeResult> {
    const { order, page } = this.#range
    if (this.#from >= this.#to) return { points: NO_POINTS, more: false }
    const range = { from: this.#from, to: this.#to, order, limit: page }
    const source = this.#source
    const result = await (source.page === undefined
      ? source.range(this.#tag, range)
      : source.page(this.#tag, range))
    const last = result.points.times.at(-1)
    if (last !== undefined && order === 'asc') this.#from = instantFromUs(last + 1)
    if (last !== undefined && order === 'desc') this.#to = instantFromUs(last)
    return result
  }

  async #readEdges(): Promise<void> {
    const { from, to } = this.#range
    ;[this.#prev, this.#next] = await Promise.all([this.#goodBefore(from), this.#goodFrom(to)])
  }

  /** The last good point strictly before an instant. */
  async #goodBefore(at: Instant): Promise<EdgePoint | null> {
    // Instants are whole, so "before" is "at or before the last microsecond before".
    if (at <= MIN_INSTANT) return null
    const { beforeTimes, beforeValues } = await this.#source.boundingValues(
      this.#tag,
      Float64Array.of(at - 1),
    )
    return edgePoint(beforeTimes[0]!, beforeValues[0]!)
  }

  /** The first good point at or after an instant. */
  async #goodFrom(at: Instant): Promise<EdgePoint | null> {
    if (at >= END_INSTANT) return null
    const { afterTimes, afterValues } = await this.#source.boundingValues(this.#tag, Float64Array.of(at))
    return edgePoint(afterTimes[0]!, afterValues[0]!)
  }

  #chunk(
    from: Instant,
    to: Instant,
    raw: PointColumns,
    prev: EdgePoint | null,
    next: EdgePoint | null,
  ): Chunk {
    const shape = this.#shape
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
}

/** Where a signal begins that has no value before a chunk up to `to`; after its end where it does not begin in it. */
function firstValue(raw: PointColumns, to: Instant, next: EdgePoint | null): number {
  const first = findFirstGood(raw)
  return first < raw.times.length ? raw.times[first]! : Math.min(next?.time ?? to + 1, to + 1)
}

function edgePoint(time: number, value: number): EdgePoint | null {
  return Number.isNaN(time) ? null : { time, value }
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
