import { TidemarkError } from '../errors/tidemark-error.ts'

/**
 * Cancellation of a call whose caller has gone: an AbortSignal, or an object that can be read and listened to as one.
 */
export interface Abortable {
  readonly aborted: boolean
  /** Why, once it is aborted. */
  readonly reason: unknown
  throwIfAborted(): void
  /** @param listener is called once, when it is aborted; never when it is already */
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Which sentence a deadline gives; both are of kind 'deadline'. */
export type DeadlineCode = 'DEADLINE_EXCEEDED' | 'WRITE_DEADLINE_EXCEEDED'

/** The longest delay that a timer takes; a longer deadline falls due then. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * A signal that ends a call, and the means to let go of it. Nothing but the clock tells that the time is up until `arm`
 * is called: work that never yields needs no timer, which would take longer than most small calls.
 */
export class Deadline {
  /** The same clock as `performance.now`. */
  readonly began = performance.now()
  readonly #client: Abortable
  readonly #seconds: number
  readonly #code: DeadlineCode
  readonly #controller = new AbortController()
  readonly #racing: ((reason: unknown) => void)[] = []
  #timer: NodeJS.Timeout | undefined
  /**
   * Made in the constructor: one that is made when it is needed had columns of answers outlive every quick garbage
   * collection, as measured.
   */
  readonly #cancel = () => {
    clearTimeout(this.#timer)
    this.#abort(cancellation(this.#client.reason))
  }
  #isArmed = false

  /**
   * @param client  aborted when the client goes away; a reason that is a TidemarkError is passed on as it is
   * @param seconds from now, above 0, fractions allowed
   * @param code    DEADLINE_EXCEEDED for reads, WRITE_DEADLINE_EXCEEDED for changes
   */
  constructor(client: Abortable, seconds: number, code: DeadlineCode = 'DEADLINE_EXCEEDED') {
    this.#client = client
    this.#seconds = seconds
    this.#code = code
    if (client.aborted) this.#abort(cancellation(client.reason))
  }

  /** Aborted with the deadline's code when the time is up, or with CANCELLED when the caller's signal was first. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * To be called before others are let in: from now on the signal is aborted as soon as the time is up or the client
   * has gone. Repeatable.
   */
  arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    if (this.signal.aborted) return
    const left = this.began + this.#seconds * 1000 - performance.now()
    this.#timer = setTimeout(() => this.#timeUp(), Math.min(left, MAX_TIMER_MS))
    if (this.#client.aborted) this.#cancel()
    else this.#client.addEventListener('abort', this.#cancel, { once: true })
  }

  /**
   * Throws the signal's reason when the time is up by the clock: work that kept the event loop to itself to its end
   * keeps the timer from saying so.
   */
  check(): void {
    if (performance.now() >= this.began + this.#seconds * 1000) this.#timeUp()
    this.signal.throwIfAborted()
  }

  /**
   * What the work gives, or a rejection with the signal's reason as soon as it is aborted: the work may go on by
   * itself.
   */
  race<Value>(work: Promise<Value>): Promise<Value> {
    this.arm()
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    if (this.signal.aborted) reject(this.signal.reason)
    else this.#racing.push(reject)
    work.then(resolve, reject)
    return promise
  }

  /**
   * Stops the timer and leaves the caller's signal; to be called when the call has ended, however it did. Repeatable.
   */
  done(): void {
    if (!this.#isArmed) return
    clearTimeout(this.#timer)
    this.#client.removeEventListener('abort', this.#cancel)
  }

  /** Ends the call for another reason, which `race` and `signal` give. The first one counts. */
  abort(reason: TidemarkError): void {
    if (!this.signal.aborted) this.#abort(reason)
  }

  #timeUp(): void {
    this.#abort(new TidemarkError(this.#code, { seconds: this.#seconds }))
  }

  #abort(reason: TidemarkError): void {
    this.#controller.abort(reason)
    for (const reject of this.#racing) reject(this.signal.reason)
  }
}

/**
 * Derives the signal that every historian is given from the one of the client. It is armed; see {@link Deadline}.
 */
export function withDeadline(
  client: Abortable,
  seconds: number,
  code: DeadlineCode = 'DEADLINE_EXCEEDED',
): Deadline {
  const deadline = new Deadline(client, seconds, code)
  deadline.arm()
  return deadline
}

/**
 * What work gives, or a rejection with the signal's reason as soon as that is aborted: the work may go on by itself.
 */
export async function untilAborted<Result>(
  signal: AbortSignal,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function cancellation(reason: unknown): TidemarkError {
  return reason instanceof TidemarkError ? reason : new TidemarkError('CANCELLED', {}, { cause: reason })
}
