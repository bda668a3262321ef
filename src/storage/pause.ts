import { setImmediate } from 'node:timers/promises'

/** How long work may hold the event loop before it lets others in. */
const SLICE_MS = 4
/** The clock is asked once in so many steps. */
const STEPS_PER_LOOK = 16

/** Tells long loops when to let others in. */
export class Pacer {
  #since = performance.now()
  #steps = 0

  /** Whether it is time for `rest`; call it often, it costs next to nothing. */
  isDue(): boolean {
    if (++this.#steps < STEPS_PER_LOOK) return false
    this.#steps = 0
    return performance.now() - this.#since >= SLICE_MS
  }

  /** Lets others in. Throws the signal's reason when it is aborted. */
  async rest(signal?: AbortSignal): Promise<void> {
    await setImmediate()
    signal?.throwIfAborted()
    this.#since = performance.now()
  }
}
