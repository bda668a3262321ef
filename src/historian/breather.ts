import { setImmediate } from 'node:timers/promises'

/** How long the reading and checking of one request may keep the event loop to themselves. */
const SLICE_MS = 20

/**
 * Lets other calls, and this one's deadline, have their turn while a long request is read, checked or planned.
 */
export class Breather {
  readonly #signal: AbortSignal
  #since: number

  /**
   * @param signal of the request; its reason is thrown from `rest` once it is aborted
   * @param since  when the request began, as `performance.now` tells
   */
  constructor(signal: AbortSignal, since: number = performance.now()) {
    this.#signal = signal
    this.#since = since
  }

  /** Whether it is time for `rest`; cheap enough for every thousandth point. */
  get isDue(): boolean {
    return performance.now() - this.#since > SLICE_MS
  }

  /** Rests when it is due: for loops whose every turn may be long. */
  async restIfDue(): Promise<void> {
    if (this.isDue) await this.rest()
  }

  async rest(): Promise<void> {
    await setImmediate()
    this.#signal.throwIfAborted()
    this.#since = performance.now()
  }
}
