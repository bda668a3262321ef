interface Waiter {
  readonly enter: () => void
  readonly fail: (error: unknown) => void
}

/**
 * Semaphore: so many pieces of work go on at the same time, and the others wait in FIFO order. Where one fails in a way
 * that the others would meet too, those that wait fail with the same error, and are never begun.
 */
export class Semaphore {
  readonly #isCommon: (error: unknown) => boolean
  /** From `#first` on; they may be very many, and shift moves all of them. */
  #waiting: Waiter[] = []
  #first = 0
  #free: number

  /**
   * @param places   at least 1
   * @param isCommon whether an error is one of all that wait; of any error it is when left out
   */
  constructor(places: number, isCommon: (error: unknown) => boolean = () => true) {
    this.#free = places
    this.#isCommon = isCommon
  }

  /** Begins work at once where a place is free, else when one is. Rejects with its error, or with a common one. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--
    else await this.#turn()
    try {
      return await work()
    } catch (error) {
      if (this.#isCommon(error)) for (const { fail } of this.#leaving()) fail(error)
      throw error
    } finally {
      const next = this.#waiting[this.#first++]
      if (next === undefined) {
        this.#leaving()
        this.#free++
      } else next.enter()
    }
  }

  /** All that wait, who do so no more. */
  #leaving(): readonly Waiter[] {
    const left = this.#waiting.slice(this.#first)
    this.#waiting = []
    this.#first = 0
    return left
  }

  #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ enter: resolve, fail: reject })
    return promise
  }
}
