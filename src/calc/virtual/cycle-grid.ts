import { divideSpan } from '../../time/exact.ts'

/** Raw points of a period. */
export const STEPS = 100

/**
 * Tumbling grid of the hundredths of a period, over all time. Everything is whole microseconds, so that nothing drifts
 * however far from 1970: step s of a cycle begins at the first microsecond that is not before s/100 of the period.
 */
export class CycleGrid {
  readonly periodUs: number
  /** Where each step begins within its cycle, and at 100 the period itself. */
  readonly offsets: Float64Array
  readonly #originUs: number

  /**
   * @param periodUs  whole, at least 100, so that no two steps begin at once, and at most 2^51
   * @param originUs  where cycle 0 begins; whole
   */
  constructor(periodUs: number, originUs: number) {
    this.periodUs = periodUs
    this.#originUs = originUs
    const { quotient, remainder } = divideSpan(0, periodUs, STEPS)
    this.offsets = Float64Array.from(
      { length: STEPS + 1 },
      (_, step) => step * quotient + Math.ceil((step * remainder) / STEPS),
    )
  }

  /** Microseconds since the beginning of the cycle. */
  phaseAt(at: number): number {
    return divideSpan(this.#originUs, at, this.periodUs).remainder
  }

  /** Number of the cycle; exact, as is everything here, for any two instants of the accepted range. */
  cycleAt(at: number): number {
    return divideSpan(this.#originUs, at, this.periodUs).quotient
  }

  /** Step of a phase, 0 to 99. */
  stepAt(phase: number): number {
    const { offsets } = this
    let step = Math.min(STEPS - 1, Math.floor(STEPS * (phase / this.periodUs)))
    while (offsets[step]! > phase) step--
    while (offsets[step + 1]! <= phase) step++
    return step
  }

  /** Beginning of the step that holds an instant. */
  startOfStep(at: number): number {
    const phase = this.phaseAt(at)
    return at - (phase - this.offsets[this.stepAt(phase)]!)
  }

  /** Beginning of the next step. */
  endOfStep(at: number): number {
    const phase = this.phaseAt(at)
    return at + (this.offsets[this.stepAt(phase) + 1]! - phase)
  }

  /** How many steps begin in [from, to); exact up to 2^53. */
  countStarts(from: number, to: number): number {
    if (from >= to) return 0
    const cycles = this.cycleAt(to - 1) - this.cycleAt(from - 1)
    return cycles * STEPS + this.stepAt(this.phaseAt(to - 1)) - this.stepAt(this.phaseAt(from - 1))
  }
}
