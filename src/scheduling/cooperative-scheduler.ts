import { TimeSlice } from './time-slice.ts'

/**
 * Cooperative scheduling of one long call: yields to the event loop, for other calls and this one's deadline, while a
 * long request is read, checked or planned.
 */
export class CooperativeScheduler {
  readonly #signal: AbortSignal
  readonly #since: number
  readonly #slice: TimeSlice

  /**
   * @param signal of the request; `yield` throws its reason once it is aborted
   * @param since  when the request began, as `performance.now` tells
   * @param slice  time that all calls of the process share
   */
  constructor(signal: AbortSignal, since: number = performance.now(), slice: TimeSlice = TimeSlice.shared) {
    this.#signal = signal
    this.#slice = slice
    this.#since = since
  }

  /** Whether the time slice is spent, so that `yield` is due; cheap enough for every hundredth point. */
  get isDue(): boolean {
    return this.#slice.isSpent(this.#since)
  }

  /** Yields when it is due: for loops whose every iteration may be long. */
  async yieldIfDue(): Promise<void> {
    if (this.isDue) await this.yield()
  }

  /** Yields to the event loop: resolves in a later tick, in which no other call that yielded goes on. */
  async yield(): Promise<void> {
    await this.#slice.next()
    this.#signal.throwIfAborted()
  }
}
