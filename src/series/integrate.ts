import { valueBetween } from './interpolate.ts'
import type { Integrals, SignalShape } from './reads.ts'
import { SignalFeeder, type SignalTarget } from './signal-feeder.ts'

/**
 * Adds up the integral over spans of a signal that is given as linear segments, in their order. Each span keeps
 * a compensated sum, and memory is that of the spans, however many segments there are.
 */
export class SpanIntegrator implements SignalTarget {
  readonly takesZero = false
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

  /** Whether the segment between two times lies in one span or in none: then `segmentSum` takes its integral. */
  takes(time1: number, time2: number): boolean {
    const span = this.#spanAfter(time1)
    if (span === this.#starts.length || this.#starts[span]! >= time2) return true
    return this.#starts[span]! <= time1 && this.#ends[span]! >= time2
  }

  /** The latest time that a segment from `time1` on can reach so that `takes` says yes to it. */
  reachFrom(time1: number): number {
    const span = this.#spanAfter(time1)
    if (span === this.#starts.length) return Number.POSITIVE_INFINITY
    const start = this.#starts[span]!
    return start <= time1 ? this.#ends[span]! : start
  }

  /** The integral of the signal from one time to another, in place of its segments; only after `takes` said yes. */
  segmentSum(time1: number, time2: number, integral: number, _zeroUs: number, coveredUs: number): void {
    const span = this.#spanAfter(time1)
    this.#span = span
    if (span < this.#starts.length && this.#starts[span]! < time2) {
      this.#addTerm(span, coveredUs, integral)
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

/** Integrals of a tag's signal over spans, fed with its points page by page. */
export class SignalIntegrator extends SignalFeeder {
  readonly #spans: SpanIntegrator

  constructor(starts: Float64Array, ends: Float64Array, shape: SignalShape) {
    const spans = new SpanIntegrator(starts, ends)
    super(spans, shape)
    this.#spans = spans
  }

  /** The integrals, once all points were fed. */
  finish(): Integrals {
    this.end()
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
