import { reasonOf } from '../files/refusals.ts'

/** Where errors of background work are logged; the fields hold no secrets. */
export interface TroubleLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Work in the background that fails, and is tried again after pauses that grow. The log is told when it begins and when
 * it is over.
 */
export class Trouble {
  readonly #historian: string
  readonly #what: string
  readonly #log: TroubleLog | null
  #reason: string | null = null
  #pauseMs = 0

  /** @param what  what cannot be done, as a sentence */
  constructor(historian: string, what: string, log: TroubleLog | null) {
    this.#historian = historian
    this.#what = what
    this.#log = log
  }

  /** Why it failed the last time; `null` when it did not. */
  get reason(): string | null {
    return this.#reason
  }

  /** What somebody should look at; `null` for nothing. */
  get sentence(): string | null {
    return this.#reason === null ? null : `${this.#what}: ${this.#reason}`
  }

  /** @returns  how long to wait before it is tried again, in milliseconds */
  failed(error: unknown): number {
    if (this.#reason === null) {
      this.#pauseMs = 0
      this.#log?.error({ err: error, historian: this.#historian }, `${this.#what}; it is tried again`)
    }
    this.#reason = reasonOf(error)
    this.#pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs), LONGEST_PAUSE_MS)
    return this.#pauseMs
  }

  over(): void {
    if (this.#reason === null) return
    this.#reason = null
    this.#log?.info({ historian: this.#historian }, `it is over that ${this.#what}`)
  }
}
