import { lowerBound, sliceColumns } from '../../series/columns.ts'
import type { Instant } from '../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from './chunk.ts'

/** A part of the range of a stream, which is read as far as that goes. @param longer from its beginning */
export async function* chunksWithin(
  longer: ChunkStream,
  { from, to, order }: Pick<ChunkRange, 'from' | 'to' | 'order'>,
): AsyncGenerator<Chunk, void> {
  for (let chunk = await longer.next(); chunk !== null; chunk = await longer.next()) {
    if (chunk.from < to && chunk.to > from) yield clipped(chunk, from, to)
    if (order === 'asc' ? chunk.to >= to : chunk.from <= from) return
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
