import { TidemarkError } from '../errors/tidemark-error.ts'

/** Seconds that a client refused for load is told to wait: calls end within moments or at their deadline. */
export const RETRY_AFTER_SECONDS = 1

/**
 * The calls in work and the bytes of their bodies, both bounded. A share is held until its answer has gone and its handler
 * has ended, whichever is later: a call whose client went away still works for a moment.
 */
export class WorkInHand {
  readonly #maxCalls: number
  readonly #maxBytes: number
  #calls = 0
  #bytes = 0
  #idle: (() => void)[] = []

  constructor(maxCalls: number, maxBytes: number) {
    this.#maxCalls = maxCalls
    this.#maxBytes = maxBytes
  }

  get calls(): number {
    return this.#calls
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Takes a call in. @throws OVERLOADED when as many as allowed are in work */
  begin(): WorkShare {
    if (this.#calls >= this.#maxCalls) throw overloaded(`${this.#calls} calls`)
    this.#calls++
    return new WorkShare(this)
  }

  /** A share holds `bytes` where it held `held`. @throws OVERLOADED when that is too much beside the others */
  hold(bytes: number, held: number): void {
    const others = this.#bytes - held
    if (others + bytes > this.#maxBytes) throw overloaded(`request bodies of ${others} bytes`)
    this.#bytes = others + bytes
  }

  /** A call with what it held is over. */
  end(held: number): void {
    this.#calls--
    this.#bytes -= held
    if (this.#calls === 0) for (const done of this.#idle.splice(0)) done()
  }

  /** Resolves when no call is in work. */
  async idle(): Promise<void> {
    if (this.#calls > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }
}

/** What one call holds; taken with one user, the connection that waits for the answer. */
export class WorkShare {
  readonly #work: WorkInHand
  #held = 0
  #users = 1

  constructor(work: WorkInHand) {
    this.#work = work
  }

  /** Holds so many bytes in all; less than before changes nothing. @throws OVERLOADED when that is too much beside the others */
  holdBytes(bytes: number): void {
    if (bytes <= this.#held) return
    this.#work.hold(bytes, this.#held)
    this.#held = bytes
  }

  /** One more user; each leaves once. */
  use(): void {
    this.#users++
  }

  leave(): void {
    if (--this.#users === 0) this.#work.end(this.#held)
  }
}

function overloaded(reason: string): TidemarkError {
  return new TidemarkError('OVERLOADED', { reason, seconds: RETRY_AFTER_SECONDS })
}
