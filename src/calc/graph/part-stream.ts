import { lowerBound, sliceColumns } from '../../series/columns.ts'
import type { Instant } from '../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from './chunk.ts'

/** A range as part of a longer one that was read as a whole at least as far as it goes, and is kept. */
export class PartStream implements ChunkStream {
  readonly #longer: ChunkStream
  readonly #range: Pick<ChunkRange, 'from' | 'to'>
  /** The end of what was given. */
  #position: Instant

  /** @param longer from its beginning, ascending */
  constructor(longer: ChunkStream, range: Pick<ChunkRange, 'from' | 'to'>) {
    this.#longer = longer
    this.#range = range
    this.#position = range.from
  }

  async next(): Promise<Chunk | null> {
    const { from, to } = this.#range
    if (this.#position >= to) return null
    let chunk = await this.#longer.next()
    while (chunk !== null && chunk.to <= from) chunk = await this.#longer.next()
    if (chunk === null) return null
    const part = clipped(chunk, from, to)
    this.#position = part.to
    return part
  }
}

/** A chunk as far as it lies in a range, which it touches. */
export function clipped(chunk: Chunk, start: Instant, end: Instant): Chunk {
  const from = chunk.from < start ? start : chunk.from
  const to = chunk.to > end ? end : chunk.to
  if (from === chunk.from && to === chunk.to) return chunk
  const { raw, breaks, outerBreaks } = chunk
  const within = (times: Float64Array) => times.subarray(lowerBound(times, from), lowerBound(times, to))
  return {
    ...chunk,
    from,
    to,
    raw: sliceColumns(raw, lowerBound(raw.times, from), lowerBound(raw.times, to)),
    ...(breaks !== undefined && { breaks: within(breaks) }),
    ...(outerBreaks !== undefined && { outerBreaks: within(outerBreaks) }),
  }
}
