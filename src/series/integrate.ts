import { type PointColumns, STATUS_OK, upperBound } from './columns.ts'
import { isGood, valueBetween } from './interpolate.ts'
import type { Integrals, SignalShape } from './reads.ts'

/**
 * Adds up the integral over spans of a signal that is given as straight segments, one after the other. Each span keeps
 * a compensated sum, and memory is that of the spans, however many segments there are.
 */
export class SpanIntegrator {
  readonly #starts: Float64Array
  readonly #ends: Float64Array
  readonly #integrals: Float64Array
  readonly #lost: Float64Array
  readonly #coveredUs: Float64Array
  /** Spans before this one have ended. */
  #span = 0

  /** @param starts, ends  instants; spans [start, end] ascending, not overlapping; an empty span has integral 0 */
  constructor(starts: Float64Array, ends: Float64Array) {
    this.#starts = starts
    this.#ends = ends
    this.#integrals = new Float64Array(starts.length)
    this.#lost = new Float64Array(starts.length)
    this.#coveredUs = new Float64Array(starts.length)
  }

  /**
   * The signal goes straight from `value1` at `time1` to `value2`, its limit from the left, at `time2`.
   * Segments come in ascending order and do not overlap; where there is none the signal has no value.
   */
  segment(time1: number, value1: number, time2: number, value2: number): void {
    const starts = this.#starts
    const ends = this.#ends
    let span = this.#spanAfter(time1)
    this.#span = span
    for (; span < starts.length && starts[span]! < time2; span++) {
      const start = starts[span]!
      const end = ends[span]!
      if (end <= start) continue
      if (start <= time1 && end >= time2) {
        this.#add(span, time2 - time1, value1, value2)
        return
      }
      const from = Math.max(start, time1)
      const to = Math.min(end, time2)
      this.#add(
        span,
        to - from,
        valueBetween(from, time1, value1, time2, value2),
        valueBetween(to, time1, value1, time2, value2),
      )
    }
  }

  /** Whether the stretch between two times lies in one span or in none: then `stretch` takes its integral. */
  takes(time1: number, time2: number): boolean {
    const span = this.#spanAfter(time1)
    if (span === this.#starts.length || this.#starts[span]! >= time2) return true
    return this.#starts[span]! <= time1 && this.#ends[span]! >= time2
  }

  /** The latest time that a stretch from `time1` on can reach so that `takes` says yes to it. */
  reachFrom(time1: number): number {
    const span = this.#spanAfter(time1)
    if (span === this.#starts.length) return Number.POSITIVE_INFINITY
    const start = this.#starts[span]!
    return start <= time1 ? this.#ends[span]! : start
  }

  /** The integral of the signal from one time to another, in place of its segments; only after `takes` said yes. */
  stretch(time1: number, time2: number, integral: number): void {
    const span = this.#spanAfter(time1)
    this.#span = span
    if (span < this.#starts.length && this.#starts[span]! < time2) {
      this.#addTerm(span, time2 - time1, integral)
    }
  }

  /** The first span that ends after a time. */
  #spanAfter(time: number): number {
    let span = this.#span
    while (span < this.#starts.length && this.#ends[span]! <= time) span++
    return span
  }

  /** Integrals in the signal's unit times microseconds, and the microseconds of each span in which it has a value. */
  result(): Integrals {
    const integrals = this.#integrals.slice()
    for (let i = 0; i < integrals.length; i++) {
      if (Number.isFinite(integrals[i]!)) integrals[i]! += this.#lost[i]!
    }
    return { integrals, coveredUs: this.#coveredUs.slice() }
  }

  #add(span: number, lengthUs: number, value1: number, value2: number): void {
    // Halved first: the sum of two large values can leave the range of doubles, their halves cannot.
    this.#addTerm(span, lengthUs, lengthUs * (value1 / 2 + value2 / 2))
  }

  #addTerm(span: number, lengthUs: number, term: number): void {
    const before = this.#integrals[span]!
    const after = before + term
    // Neumaier's compensation, as in CompensatedSum; in columns because a call may have 100,000 spans.
    if (Math.abs(before) >= Math.abs(term)) this.#lost[span]! += before - after + term
    else this.#lost[span]! += term - after + before
    this.#integrals[span] = after
    this.#coveredUs[span]! += lengthUs
  }
}

/** What has to be known of a stretch of points to integrate over all of it. */
export interface GoodStretch {
  /** Good points; the rest is of no meaning when there is none. */
  readonly numGood: number
  readonly firstGoodTime: number
  readonly lastGoodTime: number
  /** Values of the first and the last good point. */
  readonly first: number
  readonly last: number
  /** Integrals of the linear and of the stepped signal between them, in the tag's unit times microseconds. */
  readonly linear: number
  readonly stepped: number
}

/**
 * Integrals of a tag's signal over spans, fed with its points page by page.
 *
 * Feed, in ascending order: the last good point at or before the first start (if there is one), all points between, and the
 * first good point at or after the last end (if there is one); then `finish`. Feeding more on either side changes nothing.
 * Without a point after the last end, the last good point holds until `shape.holdUntil`.
 */
export class SignalIntegrator {
  readonly #spans: SpanIntegrator
  readonly #shape: SignalShape
  #time = Number.NaN
  #value = Number.NaN

  constructor(starts: Float64Array, ends: Float64Array, shape: SignalShape) {
    this.#spans = new SpanIntegrator(starts, ends)
    this.#shape = shape
  }

  /** The next page of points; BAD ones are left out. */
  add(points: PointColumns): void {
    const { times } = points
    for (let i = 0; i < times.length; i++) {
      if (!isGood(points, i)) continue
      this.addPoint(times[i]!, points.values[i]!)
      // All that follows in the same span is one term of its sum.
      const reach = this.#spans.reachFrom(times[i]!)
      const end = times[times.length - 1]! <= reach ? times.length : upperBound(times, reach)
      if (end > i + 1) this.#addRun(points, i + 1, end)
      i = Math.max(i, end - 1)
    }
  }

  /** The next points, with index from start to end, none of them beyond the reach of the last one before. */
  #addRun(points: PointColumns, start: number, end: number): void {
    const { times, values, statuses } = points
    const { stepped } = this.#shape
    const from = this.#time
    let time = from
    let value = this.#value
    let sum = 0
    let lost = 0
    for (let i = start; i < end; i++) {
      const nextTime = times[i]!
      const nextValue = values[i]!
      if (statuses[i] !== STATUS_OK || Number.isNaN(nextValue)) continue
      const term = (nextTime - time) * (stepped ? value : value / 2 + nextValue / 2)
      const next = sum + term
      if (Math.abs(sum) >= Math.abs(term)) lost += sum - next + term
      else lost += term - next + sum
      sum = next
      time = nextTime
      value = nextValue
    }
    if (time > from) this.#spans.stretch(from, time, Number.isFinite(sum) ? sum + lost : sum)
    this.#time = time
    this.#value = value
  }

  /** The next good point. */
  addPoint(time: number, value: number): void {
    if (this.#time < time) {
      this.#spans.segment(this.#time, this.#value, time, this.#shape.stepped ? this.#value : value)
    }
    this.#time = time
    this.#value = value
  }

  /**
   * The next points by what is known of them, when the stretch from the first to the last good one lies in one span or in none;
   * otherwise false, nothing was added, and they have to be fed.
   */
  addStretch(stretch: GoodStretch): boolean {
    if (stretch.numGood === 0) return true
    const { firstGoodTime, lastGoodTime, linear, stepped } = stretch
    if (!this.#spans.takes(firstGoodTime, lastGoodTime)) return false
    this.addPoint(firstGoodTime, stretch.first)
    this.#spans.stretch(firstGoodTime, lastGoodTime, this.#shape.stepped ? stepped : linear)
    this.#time = lastGoodTime
    this.#value = stretch.last
    return true
  }

  /** The integrals, once all points were fed. */
  finish(): Integrals {
    if (this.#time < this.#shape.holdUntil) {
      this.#spans.segment(this.#time, this.#value, this.#shape.holdUntil, this.#value)
    }
    return this.#spans.result()
  }
}

/**
 * Time-weighted means from integrals over windows: over the part of each window where the signal has a value, NaN where
 * it has none.
 */
export function timeAverages({ integrals, coveredUs }: Integrals): Float64Array {
  return integrals.map((integral, i) => (coveredUs[i]! > 0 ? integral / coveredUs[i]! : Number.NaN))
}
