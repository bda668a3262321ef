import { concatColumns, lowerBound, type PointColumns } from '../../../series/columns.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import { type Chunk, type ChunkRange, type ChunkStream, joinedValues } from '../../graph/chunk.ts'
import { clipped } from '../../graph/part-stream.ts'
import { type AlignedChunks, type AlignedStream, breaksOf, within } from '../union.ts'

type SegmentRange = Pick<ChunkRange, 'from' | 'to' | 'order'>

/**
 * Cuts aligned chunks anew, at raw points alone: what bends between two of these is then seen as a whole, wherever
 * pages end. Holds what was read after the last raw point, or before the first one of a range that is read backwards;
 * as long as more is wanted the last chunk, which mostly turns out to end at a raw point.
 */
export class WholeSegments implements AlignedStream {
  readonly #union: AlignedStream
  readonly #range: SegmentRange
  /** Read and not given yet, ascending; they join. */
  #held: readonly AlignedChunks[] = []
  readonly #ready: AlignedChunks[] = []
  /** Raw points that may be read before what was read is given. */
  readonly #wanted: number
  #count = 0

  /** @param wanted so many raw points may be all that is wanted; infinite for a range that is read whole */
  constructor(union: AlignedStream, range: SegmentRange, wanted: number) {
    this.#wanted = wanted
    this.#union = union
    this.#range = range
  }

  async next(): Promise<AlignedChunks | null> {
    const { order } = this.#range
    while (this.#ready.length === 0) {
      const read = await this.#union.next()
      if (read === null) return null
      if (order === 'asc') this.#ascend(read)
      else this.#descend(read)
    }
    return this.#ready.shift()!
  }

  /**
   * What can be given once it was read that comes after what is held: all of that where it ends at a raw point, and no
   * chunk is made of two then, which comparisons inside each other would all look values up in. Where enough was read, it
   * is given up to its last raw point instead.
   */
  #ascend(read: AlignedChunks): void {
    const isCut = this.#held.length > 0 && read.times[0] === read.from
    if (isCut) this.#give(this.#held, [])
    else if (this.#held.length > 0) this.#giveToLast(this.#held)
    this.#held = [...this.#held, read]
    if (read.to === this.#range.to) this.#give(this.#held, [])
    else {
      this.#count += read.times.length
      if (this.#count >= this.#wanted) this.#giveToLast(this.#held)
    }
  }

  /** Gives what lies before the last raw point. */
  #giveToLast(held: readonly AlignedChunks[]): void {
    const last = held.at(-1)!
    const cut = last.times.at(-1)
    if (cut === undefined || cut <= held[0]!.from) return
    this.#give(held.with(-1, part(last, last.from, cut)), [part(last, cut, last.to)])
  }

  /** The same for a chunk before what is held. */
  #descend(read: AlignedChunks): void {
    const held = [read, ...this.#held]
    const cut = read.from === this.#range.from ? read.from : read.times[0]
    if (cut === undefined) this.#held = held
    else
      this.#give(held.with(0, part(read, cut, read.to)), cut > read.from ? [part(read, read.from, cut)] : [])
  }

  #give(parts: readonly AlignedChunks[], held: readonly AlignedChunks[]): void {
    this.#ready.push(joined(parts.filter(({ from, to }) => from < to)))
    this.#held = held
  }
}

/** The part of a stream that lies in a shorter range. */
export class ClippedStream implements ChunkStream {
  readonly #stream: ChunkStream
  readonly #range: Pick<ChunkRange, 'from' | 'to' | 'order'>
  #isOver = false

  constructor(stream: ChunkStream, range: Pick<ChunkRange, 'from' | 'to' | 'order'>) {
    this.#stream = stream
    this.#range = range
  }

  async next(): Promise<Chunk | null> {
    const { from, to, order } = this.#range
    while (!this.#isOver) {
      const chunk = await this.#stream.next()
      if (chunk === null) return null
      this.#isOver = order === 'asc' ? chunk.to >= to : chunk.from <= from
      if (chunk.from < to && chunk.to > from) return clipped(chunk, from, to)
    }
    return null
  }
}

function part(aligned: AlignedChunks, start: number, end: number): AlignedChunks {
  const { from, to, chunks, raws, times } = aligned
  if (start === from && end === to) return aligned
  return {
    from: instantFromUs(start),
    to: instantFromUs(end),
    chunks,
    raws: raws.map((raw) => within(raw, start, end)),
    times: times.subarray(lowerBound(times, start), lowerBound(times, end)),
    ...breaksOf([aligned], start, end),
  }
}

/** Aligned chunks that join, ascending, as one. */
function joined(parts: readonly AlignedChunks[]): AlignedChunks {
  const [first] = parts
  if (parts.length === 1) return first!
  const [from, to] = [first!.from, parts.at(-1)!.to]
  const chunks = first!.chunks.map((_, i) => joinedChunk(parts, i, from, to))
  const times = new Float64Array(parts.reduce((count, part) => count + part.times.length, 0))
  let count = 0
  for (const part of parts) {
    times.set(part.times, count)
    count += part.times.length
  }
  return { from, to, chunks, raws: chunks.map(({ raw }) => raw), times, ...breaksOf(parts, from, to) }
}

/** One input of them. */
function joinedChunk(parts: readonly AlignedChunks[], index: number, from: Instant, to: Instant): Chunk {
  const chunks = parts.map(
    (aligned): Chunk => ({
      ...aligned.chunks[index]!,
      from: aligned.from,
      to: aligned.to,
      raw: aligned.raws[index]!,
    }),
  )
  const raw: PointColumns = concatColumns(chunks.map((chunk) => chunk.raw))
  const isTrueToRaw = chunks.every((chunk) => chunk.isTrueToRaw === true)
  const valuesAt: Chunk['valuesAt'] = (times, limit) => joinedValues(chunks, times, limit)
  return { from, to, raw, ...(isTrueToRaw && { isTrueToRaw }), valuesAt }
}
