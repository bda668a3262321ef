import { mergeTimes, STATUS_BAD, STATUS_OK, upperBound } from '../../../series/columns.ts'
import { valueBetween } from '../../../series/interpolate.ts'
import { CompensatedSum } from '../../../series/sum.ts'
import type { Instant } from '../../../time/instant.ts'
import type { AnchoredWindows } from '../../../time/total-windows.ts'
import type { Segments } from '../../consumers/join-segments.ts'
import { BAD_POINT, NO_POINT } from '../../consumers/segments.ts'
import type { Chunk, Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { rawTimesWith, withValues } from '../own-times.ts'

/**
 * A total where a chunk starts: its value there, and its limit from the left, which differs at the start of a window.
 */
export interface Base {
  /** Goes on with the chunk. */
  readonly sum: CompensatedSum
  before: number
}

/** Totals at ascending times of a chunk. */
export type Totals = Chunk['valuesAt']

/** A total over a chunk: segments of its input cut at the starts of windows, with the running total at each vertex. */
interface RunningTotal {
  readonly times: Float64Array
  /** The input, and which of its segments begins at each vertex or holds it. */
  readonly segments: Segments
  readonly index: Int32Array
  /** Total at each vertex, in the input's unit times microseconds, and its limit from the left. */
  readonly totalAt: Float64Array
  readonly totalBefore: Float64Array
}

/**
 * Adds up segments over [from, to], which lies inside them.
 * @param from          a vertex of them, or the start of a window: no other segment is cut
 * @param windowStarts  those in (from, to], ascending
 * @param base          afterwards the one of the chunk that starts at `to`
 * @param rateUs        what totals are divided by
 */
export function runningTotal(
  segments: Segments,
  from: Instant,
  to: Instant,
  windowStarts: Float64Array,
  base: Base,
  rateUs: number,
): Totals {
  const first = upperBound(segments.times, from)
  const inside = segments.times.subarray(first, upperBound(segments.times, to))
  const vertices = new Float64Array(inside.length + 1)
  vertices[0] = from
  vertices.set(inside, 1)
  const times = mergeTimes(vertices, windowStarts)
  const length = times.length
  const total = {
    times,
    segments,
    index: new Int32Array(length),
    totalAt: new Float64Array(length),
    totalBefore: new Float64Array(length),
  }
  const { sum } = base
  total.totalAt[0] = sum.value
  total.totalBefore[0] = base.before
  let segment = first - 1
  let nextStart = 0
  for (let k = 0; k < length; k++) {
    const time1 = times[k]!
    while (segments.times[segment + 1]! <= time1) segment++
    total.index[k] = segment
    const time2 = times[k + 1]
    if (time2 === undefined) break
    const area = areaOf(segments, segment, time1, time2)
    if (!Number.isNaN(area)) sum.add(area)
    total.totalBefore[k + 1] = sum.value
    if (time2 === windowStarts[nextStart]) {
      sum.reset()
      nextStart++
    }
    total.totalAt[k + 1] = sum.value
  }
  base.before = total.totalBefore[length - 1]!
  return (at, limit) => totalsAt(total, at, limit, rateUs)
}

/** Adds the integral of segments over [from, to] to a sum: the same terms as those of a total that begins there. */
export function addTerms(sum: CompensatedSum, segments: Segments, from: Instant, to: Instant): void {
  const { times } = segments
  for (let k = Math.max(0, upperBound(times, from) - 1); k + 1 < times.length && times[k]! < to; k++) {
    const [time1, time2] = [Math.max(times[k]!, from), Math.min(times[k + 1]!, to)]
    const area = areaOf(segments, k, time1, time2)
    if (!Number.isNaN(area)) sum.add(area)
  }
}

/** Integral of one segment between two times on it, NaN where the signal has no value. */
function areaOf({ times, at, before }: Segments, segment: number, from: number, to: number): number {
  const value1 = at[segment]!
  const value2 = before[segment + 1]!
  if (Number.isNaN(value1) || Number.isNaN(value2)) return Number.NaN
  const [time1, time2] = [times[segment]!, times[segment + 1]!]
  const first = valueBetween(from, time1, value1, time2, value2)
  const last = valueBetween(to, time1, value1, time2, value2)
  return (to - from) * (first / 2 + last / 2)
}

/** What is known of a total. */
interface TotalTraits {
  readonly windows: AnchoredWindows
  /** Raw points at the ends of the request's range. */
  readonly rangeEnds: readonly number[]
  readonly evaluation: Evaluation
}

/** The total over [from, to) as a chunk. @param windowStarts those in (from, to] */
export function totalChunk(
  totals: Totals,
  segments: Segments,
  from: Instant,
  to: Instant,
  windowStarts: Float64Array,
  { windows, rangeEnds, evaluation }: TotalTraits,
): Chunk {
  const own = rangeEnds.filter((at) => at >= from && at < to)
  const starts = windows.startAt(from) === from ? [from, ...windowStarts] : windowStarts
  // A window that starts where the chunk ends has the last microsecond before it inside.
  for (const start of starts) {
    if (start - 1 >= from) own.push(start - 1)
    if (start < to) own.push(start)
  }
  own.sort((a, b) => a - b)
  const valuesAt = (at: Float64Array, limit: Limit): Float64Array => {
    evaluation.chargeStep(at.length)
    return totals(at, limit)
  }
  const raw = rawTimesWith(rawOf(segments, from, to), own)
  return { from, to, raw: withValues(raw, valuesAt(raw.times, 'at')), valuesAt }
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
  const { times, segments, index, totalAt, totalBefore } = total
  const totals = new Float64Array(at.length)
  // The vertex at or before the first time; from there on it only moves forward.
  let vertex = at.length === 0 ? 0 : Math.max(0, upperBound(times, at[0]!) - 1)
  for (let i = 0; i < at.length; i++) {
    const time = at[i]!
    while (vertex + 1 < times.length && times[vertex + 1]! <= time) vertex++
    let sum: number
    if (times[vertex] === time) sum = limit === 'before' ? totalBefore[vertex]! : totalAt[vertex]!
    else {
      sum = totalAt[vertex]!
      const area = areaOf(segments, index[vertex]!, times[vertex]!, time)
      if (!Number.isNaN(area)) sum += area
    }
    totals[i] = finiteTotal(sum, rateUs)
  }
  return totals
}

/** A total from what was added up; NaN where that left the range of doubles. */
export function finiteTotal(sum: number, rateUs: number): number {
  const total = sum / rateUs
  return Number.isFinite(total) ? total : Number.NaN
}

/** Totals at some times, ascending, from segments in their order: with the sums of a running total. */
export class TotalsAt {
  readonly #times: Float64Array
  readonly #starts: Float64Array
  readonly #rateUs: number
  readonly #totals: Float64Array
  readonly #sum = new CompensatedSum()
  /** The time that comes next, and the start of the window that is added up. */
  #next = 0
  #start = Number.NEGATIVE_INFINITY

  /** @param starts where the windows of the times start */
  constructor(times: Float64Array, starts: Float64Array, rateUs: number) {
    this.#times = times
    this.#starts = starts
    this.#rateUs = rateUs
    this.#totals = new Float64Array(times.length)
  }

  add(segments: Segments): void {
    const { length } = segments.times
    for (let k = 0; this.#next < this.#times.length; k++) {
      k = this.#addWhole(segments, k)
      if (k + 1 >= length) return
      this.#addCut(segments, k)
    }
  }

  /** Segments between the start of the window and the next time, all of each. @returns the one after them */
  #addWhole({ times, at, before }: Segments, first: number): number {
    const start = this.#open()
    const next = this.#times[this.#next]!
    const sum = this.#sum
    let k = first
    for (; k + 1 < times.length && times[k]! >= start && times[k + 1]! <= next; k++) {
      const area = (times[k + 1]! - times[k]!) * (at[k]! / 2 + before[k + 1]! / 2)
      if (!Number.isNaN(area)) sum.add(area)
    }
    return k
  }

  /** A segment with times inside of it, or the start of a window. */
  #addCut(segments: Segments, k: number): void {
    const [time1, time2] = [segments.times[k]!, segments.times[k + 1]!]
    for (; this.#times[this.#next]! < time2; this.#next++) {
      const [from, to] = [Math.max(time1, this.#open()), this.#times[this.#next]!]
      const area = from < to ? areaOf(segments, k, from, to) : Number.NaN
      this.#set(Number.isNaN(area) ? this.#sum.value : this.#sum.value + area)
    }
    if (this.#next === this.#times.length) return
    const from = Math.max(time1, this.#open())
    const area = from < time2 ? areaOf(segments, k, from, time2) : Number.NaN
    if (!Number.isNaN(area)) this.#sum.add(area)
  }

  finish(): Float64Array {
    for (; this.#next < this.#times.length; this.#next++) {
      this.#open()
      this.#set(this.#sum.value)
    }
    return this.#totals
  }

  /** Begins the window of the next time where it is another one. */
  #open(): number {
    const start = this.#starts[this.#next]!
    if (start !== this.#start) this.#sum.reset()
    this.#start = start
    return start
  }

  #set(sum: number): void {
    this.#totals[this.#next] = finiteTotal(sum, this.#rateUs)
  }
}
