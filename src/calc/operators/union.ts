import {
  allTimes,
  concatColumns,
  lowerBound,
  mergeTimes,
  type PointColumns,
  sliceColumns,
} from '../../series/columns.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import { type Chunk, type ChunkRange, type ChunkStream, emptyUntilOf, joinedValues } from '../graph/chunk.ts'

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

/** Aligned chunks that join, in the order of a range. */
export type AlignedStream = AsyncGenerator<AlignedChunks, void>

/**
 * Several inputs over the union of their raw times, as far as all of them reach and a page allows.
 * @param maxTimes of one union; at least 2
 */
export async function* unionStream(
  streams: readonly ChunkStream[],
  range: ChunkRange,
  maxTimes: number,
): AlignedStream {
  const isAscending = range.order === 'asc'
  const [start, end] = isAscending ? [range.from, range.to] : [range.to, range.from]
  const read: (Chunk | null)[] = streams.map(() => null)
  for (let position = start; position !== end; ) {
    await Promise.all(
      streams.map(async (stream, i) => {
        const chunk = read[i]!
        const isUsedUp = chunk === null || position === (isAscending ? chunk.to : chunk.from)
        if (isUsedUp) read[i] = await stream.next()
      }),
    )
    const chunks = read.map((chunk) => chunk!)
    const left = isAscending ? { from: position, to: end } : { from: end, to: position }
    const aligned = align(chunks, left, range.order, maxTimes)
    position = isAscending ? aligned.to : aligned.from
    yield aligned
  }
}

/** The part of what is left that all chunks have, from the end that it is read from on. */
function align(
  chunks: readonly Chunk[],
  left: Pick<ChunkRange, 'from' | 'to'>,
  order: 'asc' | 'desc',
  max: number,
): AlignedChunks {
  let [from, to]: [number, number] = [left.from, left.to]
  for (const { from: start, to: end, raw } of chunks) {
    // No input gives more than a page, so that the union of many is never much longer than it may be.
    if (order === 'asc') to = Math.min(to, end, raw.times[lowerBound(raw.times, from) + max] ?? to)
    else from = Math.max(from, start, raw.times[lowerBound(raw.times, to) - max] ?? from)
  }
  let raws = chunks.map(({ raw }) => within(raw, from, to))
  let times = unionOf(raws)
  if (times.length > max) {
    if (order === 'asc') to = times[max]!
    else from = times[times.length - max]!
    raws = raws.map((raw) => within(raw, from, to))
    times = order === 'asc' ? times.subarray(0, max) : times.subarray(times.length - max)
  }
  return {
    from: instantFromUs(from),
    to: instantFromUs(to),
    chunks,
    raws,
    times,
    ...breaksOf(chunks, from, to),
  }
}

/** Chunks that join, ascending, as one. */
export function joinedChunk(chunks: readonly Chunk[]): Chunk {
  const [from, to] = [chunks[0]!.from, chunks.at(-1)!.to]
  return {
    from,
    to,
    raw: concatColumns(chunks.map(({ raw }) => raw)),
    ...(chunks.every(({ isRightContinuous }) => isRightContinuous) && { isRightContinuous: true }),
    ...(chunks.every(({ isTrueToRaw }) => isTrueToRaw) && { isTrueToRaw: true }),
    ...breaksOf(chunks, from, to),
    ...emptyUntilOf(chunks),
    valuesAt: (times, limit) => joinedValues(chunks, times, limit),
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
