/** What calculations of the whole service may hold at a time. */
const CAPACITY_BYTES = 192 * 2 ** 20

interface Waiter {
  readonly bytes: number
  readonly enter: () => void
}

/**
 * Semaphore over the memory that calculations in work are expected to hold, for all calls of the service together. Work
 * that does not fit waits in FIFO order, until its call ends: many heavy calls at once are slower, and not larger.
 */
export class MemoryGate {
  readonly #capacity: number
  readonly #waiting: Waiter[] = []
  #held = 0

  constructor(capacityBytes: number = CAPACITY_BYTES) {
    this.#capacity = capacityBytes
  }

  /** Runs work that holds about so many bytes when its memory is free. Rejects with the signal's reason. */
  async run<Result>(bytes: number, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    // Work larger than the capacity runs alone.
    const own = Math.min(bytes, this.#capacity)
    if (this.#waiting.length > 0 || this.#held + own > this.#capacity) await this.#wait(own, signal)
    else this.#held += own
    try {
      return await work()
    } finally {
      this.#held -= own
      this.#admit()
    }
  }

  #wait(bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      reject(signal.reason)
      this.#admit()
    }
    const waiter: Waiter = {
      bytes,
      enter: () => {
        signal.removeEventListener('abort', leave)
        this.#held += bytes
        resolve()
      },
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.push(waiter)
    return promise
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#held + next.bytes > this.#capacity) return
      this.#waiting.shift()
      next.enter()
    }
  }
}
