import { lowerBound, mergeTimes, STATUS_BAD, STATUS_OK, upperBound } from '../../../series/columns.ts'
import { valueBetween } from '../../../series/interpolate.ts'
import type { CompensatedSum } from '../../../series/sum.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import type { AnchoredWindows } from '../../../time/total-windows.ts'
import type { Segments } from '../../consumers/join-segments.ts'
import { BAD_POINT, NO_POINT } from '../../consumers/segments.ts'
import type { Chunk, Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { rawPointsAt } from '../own-times.ts'

/**
 * A total where a chunk starts: its value there, and its limit from the left, which differs at the start of a window.
 */
export interface Base {
  /** Goes on with the chunk. */
  readonly sum: CompensatedSum
  before: number
}

/** A total over a chunk: segments of its input cut at the starts of windows, with the running total at each vertex. */
interface RunningTotal {
  readonly times: Float64Array
  /** Value of the input at each vertex, and its limit from the left at the next one. */
  readonly inputAt: Float64Array
  readonly inputBefore: Float64Array
  /** Total at each vertex, in the input's unit times microseconds, and its limit from the left. */
  readonly totalAt: Float64Array
  readonly totalBefore: Float64Array
}

/**
 * Adds up segments over [from, to], which lies inside them.
 * @param windowStarts  those in (from, to], ascending
 * @param base          afterwards the one of the chunk that starts at `to`
 */
export function runningTotal(
  segments: Segments,
  from: Instant,
  to: Instant,
  windowStarts: Float64Array,
  base: Base,
): RunningTotal {
  const first = upperBound(segments.times, from)
  const inside = segments.times.subarray(first, lowerBound(segments.times, to))
  const bounded = new Float64Array(inside.length + 2)
  bounded[0] = from
  bounded.set(inside, 1)
  bounded[bounded.length - 1] = to
  const times = mergeTimes(bounded, windowStarts)
  const length = times.length
  const total = {
    times,
    inputAt: new Float64Array(length).fill(Number.NaN),
    inputBefore: new Float64Array(length).fill(Number.NaN),
    totalAt: new Float64Array(length),
    totalBefore: new Float64Array(length),
  }
  const { sum } = base
  total.totalAt[0] = sum.value
  total.totalBefore[0] = base.before
  let segment = first - 1
  let nextStart = 0
  for (let k = 0; k + 1 < length; k++) {
    const time1 = times[k]!
    const time2 = times[k + 1]!
    while (segments.times[segment + 1]! <= time1) segment++
    const value1 = onSegment(segments, segment, time1)
    const value2 = onSegment(segments, segment, time2)
    total.inputAt[k] = value1
    total.inputBefore[k + 1] = value2
    if (!Number.isNaN(value1)) sum.add((time2 - time1) * (value1 / 2 + value2 / 2))
    total.totalBefore[k + 1] = sum.value
    if (time2 === windowStarts[nextStart]) {
      sum.reset()
      nextStart++
    }
    total.totalAt[k + 1] = sum.value
  }
  base.before = total.totalBefore[length - 1]!
  return total
}

/** Adds the integral of segments over [from, to] to a sum: the same terms as those of a total that begins there. */
export function addTerms(sum: CompensatedSum, segments: Segments, from: Instant, to: Instant): void {
  const { times } = segments
  for (let k = Math.max(0, upperBound(times, from) - 1); k + 1 < times.length && times[k]! < to; k++) {
    const [time1, time2] = [Math.max(times[k]!, from), Math.min(times[k + 1]!, to)]
    const value1 = onSegment(segments, k, time1)
    const value2 = onSegment(segments, k, time2)
    if (!Number.isNaN(value1)) sum.add((time2 - time1) * (value1 / 2 + value2 / 2))
  }
}

/** Value on one segment, its ends included; NaN where the signal has none. */
function onSegment({ times, at, before }: Segments, segment: number, time: number): number {
  const value1 = at[segment]!
  const value2 = before[segment + 1]!
  if (Number.isNaN(value1) || Number.isNaN(value2)) return Number.NaN
  return valueBetween(time, times[segment]!, value1, times[segment + 1]!, value2)
}

/** What is known of a total. */
interface TotalTraits {
  readonly windows: AnchoredWindows
  readonly rateUs: number
  /** Raw points at the ends of the request's range. */
  readonly rangeEnds: readonly number[]
  readonly evaluation: Evaluation
}

/** The total as a chunk. @param windowStarts those in (from, to] */
export function totalChunk(
  total: RunningTotal,
  segments: Segments,
  windowStarts: Float64Array,
  { windows, rateUs, rangeEnds, evaluation }: TotalTraits,
): Chunk {
  const from = instantFromUs(total.times[0]!)
  const to = instantFromUs(total.times.at(-1)!)
  const own = rangeEnds.filter((at) => at >= from && at < to)
  const starts = windows.startAt(from) === from ? [from, ...windowStarts] : windowStarts
  // A window that starts where the chunk ends has the last microsecond before it inside.
  for (const start of starts) {
    if (start - 1 >= from) own.push(start - 1)
    if (start < to) own.push(start)
  }
  own.sort((a, b) => a - b)
  const valuesAt = (at: Float64Array, limit: Limit): Float64Array => {
    evaluation.charge(at.length)
    return totalsAt(total, at, limit, rateUs)
  }
  return { from, to, raw: rawPointsAt(rawOf(segments, from, to), own, (at) => valuesAt(at, 'at')), valuesAt }
}

/** Raw times of [from, to) with their statuses. */
function rawOf({ times, kinds }: Segments, from: Instant, to: Instant) {
  const isRaw = (_: unknown, i: number): boolean =>
    kinds[i] !== NO_POINT && times[i]! >= from && times[i]! < to
  return {
    times: times.filter(isRaw),
    statuses: kinds.filter(isRaw).map((kind) => (kind === BAD_POINT ? STATUS_BAD : STATUS_OK)),
  }
}

function totalsAt(total: RunningTotal, at: Float64Array, limit: Limit, rateUs: number): Float64Array {
  const { times, inputAt, inputBefore, totalAt, totalBefore } = total
  const totals = new Float64Array(at.length)
  // The vertex at or before the first time; from there on it only moves forward.
  let vertex = at.length === 0 ? 0 : Math.max(0, upperBound(times, at[0]!) - 1)
  for (let i = 0; i < at.length; i++) {
    const time = at[i]!
    while (vertex + 1 < times.length && times[vertex + 1]! <= time) vertex++
    let sum: number
    if (times[vertex] === time) sum = limit === 'before' ? totalBefore[vertex]! : totalAt[vertex]!
    else {
      const value1 = inputAt[vertex]!
      sum = totalAt[vertex]!
      if (!Number.isNaN(value1)) {
        const time1 = times[vertex]!
        const value = valueBetween(time, time1, value1, times[vertex + 1]!, inputBefore[vertex + 1]!)
        sum += (time - time1) * (value1 / 2 + value / 2)
      }
    }
    const result = sum / rateUs
    totals[i] = Number.isFinite(result) ? result : Number.NaN
  }
  return totals
}
