import type { FastifyRequest } from 'fastify'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { addressGroup } from './work.ts'

/** What a caller may make at once that was quiet for so long. */
const BURST_SECONDS = 10
/** Callers that are remembered at a time; of more than these, the first ones are forgotten, and begin anew. */
const MOST_CALLERS = 10_000

/** A call beyond the rate of its key or address. */
export class TooManyCalls extends TidemarkError {
  /** For the header Retry-After: whole seconds, at least 1. */
  readonly retryAfterSeconds: number

  constructor(callsPerSecond: number, seconds: number) {
    super('RATE_LIMITED', { limit: callsPerSecond, seconds })
    this.retryAfterSeconds = seconds
  }
}

/**
 * Bounds the calls per second of each key, and of each address the requests that need a valid key and have none. A
 * leaky bucket (generic cell rate algorithm): of each caller the time is kept at which its calls so far would have come
 * at the allowed rate, and a call is refused that is more than the burst ahead of it. Refused calls cost nothing.
 */
export class CallRates {
  readonly #callsPerSecond: number
  readonly #intervalMs: number
  readonly #burstMs: number
  readonly #now: () => number
  /** Milliseconds of the clock. */
  readonly #dueOf = new Map<string, number>()
  #refusedKeys = 0
  #refusedAddresses = 0

  /**
   * @param callsPerSecond above 0
   * @param now            milliseconds of a clock that never goes back
   */
  constructor(callsPerSecond: number, now: () => number = () => performance.now()) {
    this.#callsPerSecond = callsPerSecond
    this.#intervalMs = 1_000 / callsPerSecond
    // A rate below one call in this time still allows one.
    this.#burstMs = Math.max(BURST_SECONDS * 1_000, this.#intervalMs)
    this.#now = now
  }

  /** Calls that were refused since the start. */
  get refused(): { readonly key: number; readonly address: number } {
    return { key: this.#refusedKeys, address: this.#refusedAddresses }
  }

  /** Counts a request of a key, `null` where it has no valid one. @throws TooManyCalls */
  take(keyName: string | null, { ip }: Pick<FastifyRequest, 'ip'>): void {
    const seconds = this.#take(keyName === null ? `address ${addressGroup(ip)}` : `key ${keyName}`)
    if (seconds === 0) return
    if (keyName === null) this.#refusedAddresses++
    else this.#refusedKeys++
    throw new TooManyCalls(this.#callsPerSecond, seconds)
  }

  /** @returns whole seconds until there is room for the call, 0 when it is taken */
  #take(caller: string): number {
    const now = this.#now()
    const due = Math.max(this.#dueOf.get(caller) ?? now, now) + this.#intervalMs
    const aheadMs = due - now - this.#burstMs
    // A part of a nanosecond is rounding.
    if (aheadMs > 1e-6) return Math.max(1, Math.ceil(aheadMs / 1_000))
    // Moved to the end: the first ones were quiet for longest.
    this.#dueOf.delete(caller)
    this.#dueOf.set(caller, due)
    if (this.#dueOf.size > MOST_CALLERS) this.#dueOf.delete(this.#dueOf.keys().next().value!)
    return 0
  }
}
