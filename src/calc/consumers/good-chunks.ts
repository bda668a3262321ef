import { type Instant, instantFromUs, US_PER_DAY } from '../../time/instant.ts'
import { type Chunk, type ChunkRange, type ChunkStream, streamOf } from '../graph/chunk.ts'
import { keyOf, type NeedSink } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'

/** Instants whose bounding values are read: those of the outermost good points, and both ends of three parts. */
const BESIDE_PARTS = 8
/** Only searches beyond the outermost raw points read so long a range as a whole. */
const CENTURY_US = 36_525 * US_PER_DAY

/**
 * Chunks of an input whose BAD raw points are passed by. A range of a century and more, as that of a search for what
 * comes after the last raw point is, is read between its outermost good points alone: there may be any number of BAD
 * ones before and after these.
 */
export function goodChunks(input: Operator, range: ChunkRange): ChunkStream {
  const { from, to, extent } = range
  const isShort = to - from < CENTURY_US || extent !== 'all'
  if (isShort || input.goodPoint === undefined || input.signal === undefined) return input.chunks(range)
  return streamOf(goodParts(input, range))
}

async function* goodParts(input: Operator, range: ChunkRange): AsyncGenerator<Chunk, void> {
  const { from, to } = range
  const [first, last] = await goodWithin(input, from, to)
  if (from < first) yield await input.signal!(from, first)
  if (first < last) {
    const stream = input.chunks({ ...range, from: first, to: last })
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) yield chunk
  }
  if (last < to) yield await input.signal!(last, to)
}

/** What `goodChunks` of a long range needs beside its points: the bounding values of its parts. */
export function goodChunkNeeds(
  input: Operator,
  { from, to }: Pick<ChunkRange, 'from' | 'to'>,
  sink: NeedSink,
): void {
  if (to - from < CENTURY_US) return
  sink.need(input, { kind: 'values', from, to, count: BESIDE_PARTS, key: keyOf('parts', from, to) })
}

/** From the first good point of a range to behind its last; the end of the range where it has none. */
async function goodWithin(
  input: Operator,
  from: Instant,
  to: Instant,
): Promise<readonly [first: Instant, last: Instant]> {
  const [first, last] = await Promise.all([
    input.goodPoint!('after-or-at', from),
    input.goodPoint!('before', to),
  ])
  if (first === null || last === null || first.time >= to) return [to, to]
  return [first.time, instantFromUs(last.time + 1)]
}
