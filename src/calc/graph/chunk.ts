import { lowerBound, type PointColumns, sliceColumns, upperBound } from '../../series/columns.ts'
import type { Instant } from '../../time/instant.ts'

/** A range to be read in chunks. */
export interface ChunkRange {
  readonly from: Instant
  /** Excluded for raw points; values can still be read at it. Above `from`. */
  readonly to: Instant
  /** From which end it is read. */
  readonly order: 'asc' | 'desc'
  /** About how many raw points of each stored tag are read at a time; at least 2. */
  readonly page: number
  /**
   * Whether only the first chunks are wanted, as many as have `page - 1` raw points; or all of them, forwards, and then
   * no stored point is fetched twice.
   */
  readonly extent: 'first' | 'all'
  /**
   * Set where chunks are asked for their raw points alone, and for no values beside these. What lies beside the range
   * need then not be looked up; what makes no use of it gives all values.
   */
  readonly rawOnly?: boolean
  /**
   * Set where no value at the end is asked for, nor a limit from the right: another range, which begins there, has it.
   * Rolling windows then need nothing that stands at it. Without it SLIDINGAGG MAX 45 deep over dates is refused
   * (adversary `nested/SLIDINGAGG_MAX/dates`): equal ranges are others at each level.
   */
  readonly isEndOpen?: boolean
}

export interface ChunkStream {
  /**
   * The chunk that joins the one before; `null` after the last, with which the range is covered. One pull at a time.
   */
  next(): Promise<Chunk | null>
}

/**
 * The chunks that a generator makes as a stream: what is carried from chunk to chunk is its variables. It begins when
 * it is pulled.
 */
export function streamOf(chunks: AsyncGenerator<Chunk, void>): ChunkStream {
  return { next: async () => (await chunks.next()).value ?? null }
}

/** Which value is meant where a signal switches: at the instant, or the limit from the left or from the right. */
export type Limit = 'at' | 'before' | 'after'

/** A bounded part of an operator in memory: its raw points, and its value at any time inside, without further reads. */
export interface Chunk {
  readonly from: Instant
  /** Excluded for raw points; values can still be asked at it. */
  readonly to: Instant
  /** Ascending, whatever the order of the stream. */
  readonly raw: PointColumns
  /**
   * Instants of [from, to) at which the signal may end or switch though no raw point stands there, ascending: the limit
   * from the left is that of what was before. Left out for none.
   */
  readonly breaks?: Float64Array
  /**
   * Instants of [from, to) before the first raw point of the chunk, or behind its last, at which the signal bends or
   * jumps: where a raw point leaves a rolling window. They are vertices only before all raw points of the signal, and
   * behind all of them: between two raw points it goes linearly. Ascending; left out for none.
   */
  readonly outerBreaks?: Float64Array
  /**
   * Set where each raw value, also a BAD one, is the signal's value there and its limit from the right: they need not
   * be asked for. `isTrueToRaw` is set, too.
   */
  readonly isRightContinuous?: true
  /** Set where each good raw value is the value of the signal there. */
  readonly isTrueToRaw?: true
  /**
   * The signal has no value, and no limit from either side, at any time of the chunk before this instant, which lies
   * after `to` where it has none at all. Left out where that is not known. Windows 45 deep over the first points of a
   * tag are refused without it (adversary `nested/SLIDINGAGG/stored`): all levels look up all of that time.
   */
  readonly emptyUntil?: number
  /**
   * Values at ascending times within [from, to]. Limits from the right differ from the values only where the last value
   * of a signal ends, at `now` or before a gap, and at raw points one microsecond before another: a comparison that
   * ends at an instant still holds there, and no longer after it.
   * @returns not to be changed: a chunk may keep the column for others
   */
  valuesAt(times: Float64Array, limit: Limit): Float64Array
}

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

/** `emptyUntil` of chunks that join, ascending; as a field that is left out where it says nothing. */
export function emptyUntilOf(chunks: readonly Chunk[]): { readonly emptyUntil?: number } {
  let all: number | undefined
  for (const { to, emptyUntil } of chunks) {
    if (emptyUntil !== undefined) all = emptyUntil
    if (emptyUntil === undefined || emptyUntil <= to) break
  }
  return all === undefined ? {} : { emptyUntil: all }
}

/** Values at ascending times, within chunks that are ascending and join: NaN at those beyond them. */
export function joinedValues(chunks: readonly Chunk[], times: Float64Array, limit: Limit): Float64Array {
  const values = new Float64Array(times.length).fill(Number.NaN)
  let at = 0
  for (const [index, chunk] of chunks.entries()) {
    // A limit from the left is that of the chunk which ends there: the next one need not know what was before it.
    const isIncluded = limit === 'before' || index === chunks.length - 1
    const end = isIncluded ? upperBound(times, chunk.to) : lowerBound(times, chunk.to)
    if (end <= at) continue
    values.set(chunk.valuesAt(times.subarray(at, end), limit), at)
    at = end
  }
  return values
}
