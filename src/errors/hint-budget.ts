/** Errors of one call that are compared with what would have been right. */
const HINTS_PER_CALL = 100

/**
 * How many errors of a call still get a hint of their own (`did you mean ...`). Finding the nearest of many names takes
 * longer than the error itself, and a call may have 100,000 errors.
 */
export class HintBudget {
  #left: number

  constructor(hints: number = HINTS_PER_CALL) {
    this.#left = hints
  }

  /** Whether one more hint may be looked for; counts it. */
  take(): boolean {
    if (this.#left === 0) return false
    this.#left--
    return true
  }
}
