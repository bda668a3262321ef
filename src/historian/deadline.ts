import { TidemarkError } from '../errors/tidemark-error.ts'

/** What tells that a caller has gone: an AbortSignal, or what can be asked and listened to as one is. */
export interface Abortable {
  readonly aborted: boolean
  /** Why, once it is aborted. */
  readonly reason: unknown
  throwIfAborted(): void
  /** @param listener is called once, when it is aborted; never when it is already */
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** A signal that ends a call, and the means to let go of it. */
export interface Deadline {
  /** Aborted with the deadline's code when the time is up, or with CANCELLED when the caller's signal was first. */
  readonly signal: AbortSignal
  /**
   * Throws the signal's reason when the time is up by the clock: work that kept the event loop to itself to its end keeps
   * the timer from saying so.
   */
  check(): void
  /** What the work gives, or a rejection with the signal's reason as soon as it is aborted: the work may go on by itself. */
  race<Value>(work: Promise<Value>): Promise<Value>
  /** Stops the timer and leaves the caller's signal; to be called when the call has ended, however it did. Repeatable. */
  done(): void
}

/** Which sentence a deadline gives; both are of kind 'deadline'. */
export type DeadlineCode = 'DEADLINE_EXCEEDED' | 'WRITE_DEADLINE_EXCEEDED'

/** The longest delay that a timer takes; a longer deadline falls due then. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Derives the signal that every historian is given from the one of the client.
 * @param signal  aborted when the client goes away; a reason that is a TidemarkError is passed on as it is
 * @param seconds from now, above 0, fractions allowed
 * @param code    DEADLINE_EXCEEDED for reads, WRITE_DEADLINE_EXCEEDED for changes
 */
export function withDeadline(
  signal: Abortable,
  seconds: number,
  code: DeadlineCode = 'DEADLINE_EXCEEDED',
): Deadline {
  const controller = new AbortController()
  const racing: ((reason: unknown) => void)[] = []
  const abort = (reason: TidemarkError) => {
    controller.abort(reason)
    for (const reject of racing) reject(controller.signal.reason)
  }
  const timeUp = () => abort(new TidemarkError(code, { seconds }))
  const due = performance.now() + seconds * 1000
  const timer = setTimeout(timeUp, Math.min(seconds * 1000, MAX_TIMER_MS))
  const cancel = () => {
    clearTimeout(timer)
    abort(cancellation(signal.reason))
  }
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel, { once: true })
  return {
    signal: controller.signal,
    check: () => {
      if (performance.now() >= due) timeUp()
      controller.signal.throwIfAborted()
    },
    race: <Value>(work: Promise<Value>) => {
      const { promise, resolve, reject } = Promise.withResolvers<Value>()
      if (controller.signal.aborted) reject(controller.signal.reason)
      else racing.push(reject)
      work.then(resolve, reject)
      return promise
    },
    done: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    },
  }
}

function cancellation(reason: unknown): TidemarkError {
  return reason instanceof TidemarkError ? reason : new TidemarkError('CANCELLED', {}, { cause: reason })
}
