import { CompensatedSum } from '../../../series/sum.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import { joinSegments, type Segments } from '../../consumers/join-segments.ts'
import { SegmentReader } from '../../consumers/segments.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import { type Base, runningTotal, totalChunk } from './running-total.ts'
import type { TotalSource } from './total-source.ts'

/** For the point held back at the cut of a page, and for the vertex that joins the next segments. */
export const MORE_POINTS = 2

/**
 * Streams a total with anchored windows. Ascending, the running total is carried from chunk to chunk; descending, each
 * chunk starts with the integral from the start of its window.
 */
export class AnchoredStream implements ChunkStream {
  readonly #source: TotalSource
  readonly #range: ChunkRange
  readonly #reader: SegmentReader
  /** Segments that were read and are not used up. */
  #segments: Segments | null = null
  #base: Base | null = null
  /** The end of what was given. */
  #position: Instant

  constructor(source: TotalSource, range: ChunkRange) {
    this.#source = source
    this.#range = range
    this.#reader = new SegmentReader(source.input, source.evaluation, range)
    this.#position = range.order === 'asc' ? range.from : range.to
  }

  async next(): Promise<Chunk | null> {
    const { order, from, to } = this.#range
    const ascends = order === 'asc'
    while (this.#position !== (ascends ? to : from)) {
      this.#segments ??= await (ascends ? this.#reader.next() : this.#pageBefore(this.#position))
      const segments = this.#segments
      if (segments === null) return null
      const reach = ascends ? Math.min(segments.times.at(-1)!, to) : Math.max(segments.times[0]!, from)
      // The first segments can lie before the range, when they reach out to the raw point before it.
      if (ascends ? reach <= this.#position : reach >= this.#position) {
        this.#segments = null
        continue
      }
      return ascends ? this.#ascend(segments, reach) : this.#descend(segments, reach)
    }
    return null
  }

  /** Segments before an instant, a page of them: each chunk that is read backwards costs the integral before it. */
  async #pageBefore(position: Instant): Promise<Segments | null> {
    const { from, page, extent } = this.#range
    // A page of the input has points beyond those that are wanted of the total.
    const wanted = extent === 'first' ? page - MORE_POINTS : page
    const parts: Segments[] = []
    let count = 0
    let reach: number = position
    while (reach > from && count <= wanted) {
      const part = await this.#reader.next()
      if (part === null) break
      parts.unshift(part)
      count += part.times.length
      reach = part.times[0]!
      await this.#source.evaluation.pause()
    }
    return parts.length === 0 ? null : joinSegments(parts)
  }

  async #ascend(segments: Segments, reach: number): Promise<Chunk> {
    const { windows } = this.#source
    const from = this.#position
    this.#base ??= await this.#baseAt(from)
    const starts: number[] = []
    let start = windows.endAt(from)
    while (start <= reach && starts.length < this.#range.page) {
      starts.push(start)
      start = windows.endAt(start)
    }
    // Short windows: as many of them as a page holds, the others with the next page.
    const to = instantFromUs(start <= reach ? starts.at(-1)! : reach)
    if (to === segments.times.at(-1)!) this.#segments = null
    this.#position = to
    return this.#chunk(segments, from, to, starts, this.#base)
  }

  async #descend(segments: Segments, reach: number): Promise<Chunk> {
    const { windows } = this.#source
    const to = this.#position
    const starts: number[] = []
    let start = windows.startAt(to)
    while (start > reach && starts.length < this.#range.page) {
      starts.push(start)
      start = windows.startAt(instantFromUs(start - 1))
    }
    const from = instantFromUs(start > reach ? starts.pop()! : reach)
    if (from === segments.times[0]!) this.#segments = null
    this.#position = from
    return this.#chunk(segments, from, to, starts.reverse(), await this.#baseAt(from))
  }

  #chunk(segments: Segments, from: Instant, to: Instant, windowStarts: number[], base: Base): Chunk {
    const { evaluation } = this.#source
    evaluation.charge(segments.times.length + windowStarts.length)
    const total = runningTotal(segments, from, to, Float64Array.from(windowStarts), base)
    return totalChunk(total, segments, windowStarts, this.#source)
  }

  /** The total where a chunk starts, from the start of its window, or of the window that ends there. */
  async #baseAt(at: Instant): Promise<Base> {
    const { windows, integral } = this.#source
    // Nothing depends on what was before the raw point that a range begins with.
    if (at === this.#range.from && windows.startAt(at) === at)
      return { sum: new CompensatedSum(), before: Number.NaN }
    const sum = await integral(windows.startAt(instantFromUs(at - 1)), at)
    const before = sum.value
    return { sum: windows.startAt(at) === at ? new CompensatedSum() : sum, before }
  }
}
