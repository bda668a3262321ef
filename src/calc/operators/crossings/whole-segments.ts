import { concatColumns, type PointColumns } from '../../../series/columns.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import { clipped } from '../../graph/part-stream.ts'
import { valuesIn } from '../rolling/buffered-input.ts'
import { type AlignedChunks, type AlignedStream, breaksOf, within } from '../union.ts'

/**
 * Cuts aligned chunks anew, at raw points alone: what bends between two of these is then seen as a whole, wherever
 * pages end. Holds what was read after the last raw point, or before the first one of a range that is read backwards.
 */
export class WholeSegments implements AlignedStream {
  readonly #union: AlignedStream
  readonly #range: Pick<ChunkRange, 'from' | 'to' | 'order'>
  /** Read and not given yet, ascending; they join. */
  #held: AlignedChunks[] = []

  constructor(union: AlignedStream, range: Pick<ChunkRange, 'from' | 'to' | 'order'>) {
    this.#union = union
    this.#range = range
  }

  async next(): Promise<AlignedChunks | null> {
    for (;;) {
      const read = await this.#union.next()
      if (read === null) return null
      const given = this.#range.order === 'asc' ? this.#ascend(read) : this.#descend(read)
      if (given !== null) return given
    }
  }

  /** What can be given once a chunk was read that comes after what is held. */
  #ascend(read: AlignedChunks): AlignedChunks | null {
    const held = [...this.#held, read]
    const cut = read.to === this.#range.to ? read.to : read.times.at(-1)
    if (cut === undefined || cut <= held[0]!.from) {
      this.#held = held
      return null
    }
    this.#held = cut < read.to ? [part(read, cut, read.to)] : []
    return joined(cut > read.from ? held.with(-1, part(read, read.from, cut)) : held.slice(0, -1))
  }

  /** The same for a chunk before what is held. */
  #descend(read: AlignedChunks): AlignedChunks | null {
    const held = [read, ...this.#held]
    const cut = read.from === this.#range.from ? read.from : read.times[0]
    if (cut === undefined) {
      this.#held = held
      return null
    }
    this.#held = cut > read.from ? [part(read, read.from, cut)] : []
    return joined(held.with(0, part(read, cut, read.to)))
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
  const inside = times.filter((time) => time >= start && time < end)
  return {
    from: instantFromUs(start),
    to: instantFromUs(end),
    chunks,
    raws: raws.map((raw) => within(raw, start, end)),
    times: inside,
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
  const valuesAt: Chunk['valuesAt'] = (times, limit) => valuesIn(chunks, times, limit)
  return { from, to, raw, ...(isTrueToRaw && { isTrueToRaw }), valuesAt }
}
