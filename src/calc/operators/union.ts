import { allTimes, lowerBound, mergeTimes, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../graph/chunk.ts'

/** Chunks of several inputs over the same time: each reaches at least from `from` to `to`. */
export interface AlignedChunks {
  readonly from: Instant
  readonly to: Instant
  readonly chunks: readonly Chunk[]
  /** The raw points of each input in [from, to). */
  readonly raws: readonly PointColumns[]
  /** All raw times, ascending, each once. */
  readonly times: Float64Array
  /** As those of a chunk: of all inputs. */
  readonly breaks?: Float64Array
  readonly outerBreaks?: Float64Array
}

/** Aligned chunks that join, in the order of a range; `null` after the last. */
export interface AlignedStream {
  next(): Promise<AlignedChunks | null>
}

/** Streams several inputs over the union of their raw times, as far as all of them reach and a page allows. */
export class UnionStream implements AlignedStream {
  readonly #streams: readonly ChunkStream[]
  readonly #range: ChunkRange
  readonly #maxTimes: number
  readonly #chunks: (Chunk | null)[]
  /** The end of what was given. */
  #position: Instant

  /** @param maxTimes of one union; at least 2 */
  constructor(streams: readonly ChunkStream[], range: ChunkRange, maxTimes: number) {
    this.#streams = streams
    this.#range = range
    this.#maxTimes = Math.max(2, maxTimes)
    this.#chunks = streams.map(() => null)
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<AlignedChunks | null> {
    const { order, from: start, to: end } = this.#range
    if (this.#position === (order === 'asc' ? end : start)) return null
    await Promise.all(this.#streams.map((stream, i) => this.#pull(stream, i)))
    const chunks = this.#chunks.map((chunk) => chunk!)
    const aligned = order === 'asc' ? this.#ascend(chunks, end) : this.#descend(chunks, start)
    this.#position = order === 'asc' ? aligned.to : aligned.from
    return { ...aligned, ...breaksOf(chunks, aligned.from, aligned.to) }
  }

  /** Makes sure that an input has a chunk that goes on from the position. */
  async #pull(stream: ChunkStream, index: number): Promise<void> {
    const chunk = this.#chunks[index]!
    const used = chunk === null || this.#position === (this.#range.order === 'asc' ? chunk.to : chunk.from)
    if (used) this.#chunks[index] = await stream.next()
  }

  #ascend(chunks: readonly Chunk[], end: Instant): AlignedChunks {
    const from = this.#position
    const max = this.#maxTimes
    let to: number = end
    for (const { to: reach, raw } of chunks) {
      to = Math.min(to, reach)
      // No input gives more than a page, so that the union of many is never much longer than it may be.
      const cut = raw.times[lowerBound(raw.times, from) + max]
      if (cut !== undefined) to = Math.min(to, cut)
    }
    const raws = chunks.map(({ raw }) => within(raw, from, to))
    const times = unionOf(raws)
    if (times.length <= max) return { from, to: instantFromUs(to), chunks, raws, times }
    const cut = times[max]!
    return {
      from,
      to: instantFromUs(cut),
      chunks,
      raws: raws.map((raw) => within(raw, from, cut)),
      times: times.subarray(0, max),
    }
  }

  #descend(chunks: readonly Chunk[], start: Instant): AlignedChunks {
    const to = this.#position
    const max = this.#maxTimes
    let from: number = start
    for (const { from: reach, raw } of chunks) {
      from = Math.max(from, reach)
      const cut = raw.times[lowerBound(raw.times, to) - max]
      if (cut !== undefined) from = Math.max(from, cut)
    }
    const raws = chunks.map(({ raw }) => within(raw, from, to))
    const times = unionOf(raws)
    if (times.length <= max) return { from: instantFromUs(from), to, chunks, raws, times }
    const cut = times[times.length - max]!
    return {
      from: instantFromUs(cut),
      to,
      chunks,
      raws: raws.map((raw) => within(raw, cut, to)),
      times: times.subarray(times.length - max),
    }
  }
}

/** The breaks of chunks within [from, to), and their outer ones, as fields that may be left out. */
export function breaksOf(
  chunks: readonly Pick<Chunk, 'breaks' | 'outerBreaks'>[],
  from: number,
  to: number,
): Pick<Chunk, 'breaks' | 'outerBreaks'> {
  const breaks = joinedWithin(chunks, 'breaks', from, to)
  const outerBreaks = joinedWithin(chunks, 'outerBreaks', from, to)
  return { ...(breaks !== null && { breaks }), ...(outerBreaks !== null && { outerBreaks }) }
}

function joinedWithin<Name extends 'breaks' | 'outerBreaks'>(
  chunks: readonly { readonly [key in Name]?: Float64Array }[],
  name: Name,
  from: number,
  to: number,
): Float64Array | null {
  let all: Float64Array | null = null
  for (const chunk of chunks) {
    const times = chunk[name]
    if (times === undefined) continue
    const inside = times.subarray(lowerBound(times, from), lowerBound(times, to))
    if (inside.length > 0) all = all === null ? inside : mergeTimes(all, inside)
  }
  return all
}

export function within(points: PointColumns, from: number, to: number): PointColumns {
  const { times } = points
  const first = lowerBound(times, from)
  const end = lowerBound(times, to)
  return first === 0 && end === times.length ? points : sliceColumns(points, first, end)
}

/** All times that occur, ascending, each once. */
function unionOf(columns: readonly PointColumns[]): Float64Array {
  const filled = columns.filter(({ times }) => times.length > 0).map(({ times }) => times)
  if (filled.length === 0) return new Float64Array(0)
  if (filled.length <= 4) return filled.reduce(mergeTimes)
  return allTimes(filled)
}
