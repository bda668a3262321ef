import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext } from '../contract.ts'
import { untilAborted } from '../deadline.ts'
import { type RetryOptions, retrySafely } from './retry.ts'
import { withTimeLimit } from './time-limit.ts'
import { isTransient, outcomeUnknown, reasonIn } from './unavailable.ts'

/*
 * Changes of connected historians: one place that decides how a failed change is reported to the caller. Drivers say
 * what they see of each request (sent, acknowledged, refused), and never which error follows from it.
 */

/** What a change as a whole may take. */
export interface ChangeOptions extends CallContext {
  /** As configured; named in every error. */
  readonly historian: string
  /** Time limit in seconds, above 0; without it the change ends with its requests, or with the signal. */
  readonly seconds?: number
}

/** How a request of a change is tried again. Attempts and pauses as for reads when left out. */
export interface RequestOptions extends Omit<RetryOptions, 'signal'> {
  /**
   * Whether the request may be sent again although an earlier attempt may have been taken: only where doing it twice
   * leaves the same as doing it once, whatever others did in between. Otherwise it is sent again only after attempts
   * that took nothing.
   */
  readonly isRepeatable?: boolean
}

/** One attempt at a request that changes something; the driver reports here what happens to it. */
export interface Attempt extends CallContext {
  /** From 1. */
  readonly number: number
  /**
   * The request, or the part of it that makes the change such as a COMMIT, is about to leave: from here on an attempt
   * that fails may have been taken. Throws the signal's reason once that is aborted, so that nothing leaves afterwards.
   */
  sent(): void
  /**
   * An answer says for certain that nothing (more) of the attempt was taken. To be called before the error is thrown.
   */
  refused(): void
  /** An answer says for certain that a part of the attempt was taken. */
  takenInPart(): void
}

/** A change under way. */
export interface RemoteChange extends CallContext {
  /**
   * Makes a request that changes something; resolved means acknowledged. Several may be under way at once. What is only
   * read on the way needs no such request.
   */
  request<Answer>(send: (attempt: Attempt) => Promise<Answer>, options?: RequestOptions): Promise<Answer>
}

/** Errors of changes of which it is certain that nothing was taken. */
const NOTHING_CHANGED = new WeakSet<object>()

/** Whether it is certain that a change that failed with this error took nothing: the historian is as it was. */
export function changedNothing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && NOTHING_CHANGED.has(error)
}

/**
 * Makes a change of a connected historian, of one request or several, under its time limit. Ends as soon as the time is
 * up or the caller's signal is aborted. Where it fails, the error says what became of the change:
 * - WRITE_OUTCOME_UNKNOWN when any request may have been taken: one was sent and not acknowledged, whatever later
 *   attempts at it were answered, other than with success;
 * - WRITE_PARTIAL when some of it was taken for certain, and the remainder for certain not;
 * - the error itself, or the signal's reason, when nothing was taken ({@link changedNothing}).
 */
export async function makeChange<Result>(
  options: ChangeOptions,
  work: (change: RemoteChange) => Promise<Result>,
): Promise<Result> {
  const { historian, seconds, signal } = options
  const outcome = new ChangeOutcome()
  const run = (context: CallContext) => work(changeUnderWay(outcome, context.signal))
  try {
    signal.throwIfAborted()
    return await (seconds === undefined
      ? untilAborted(signal, () => run({ signal }))
      : withTimeLimit(historian, seconds, { signal }, run))
  } catch (error) {
    throw outcome.errorFor(historian, error)
  }
}

/** What is known of all requests of a change. */
class ChangeOutcome {
  /**
   * Requests of which an attempt was sent and neither acknowledged nor refused, with the error of that attempt once it
   * has one.
   */
  readonly #open = new Map<object, unknown>()
  #hasTaken = false

  sent(request: object): void {
    // An earlier attempt's error stays: that attempt is what makes the outcome unknown.
    if (!this.#open.has(request)) this.#open.set(request, undefined)
  }

  lost(request: object, error: unknown): void {
    this.#open.set(request, this.#open.get(request) ?? error)
  }

  settled(request: object): void {
    this.#open.delete(request)
  }

  taken(): void {
    this.#hasTaken = true
  }

  errorFor(historian: string, error: unknown): unknown {
    if (this.#open.size > 0) {
      const lost = [...this.#open.values()].find((each) => each !== undefined)
      return outcomeUnknown(historian, lost ?? error)
    }
    if (this.#hasTaken) {
      if (error instanceof TidemarkError && error.code === 'WRITE_PARTIAL') return error
      const reason = error instanceof TidemarkError ? reasonIn(error, historian) : 'the rest failed'
      return new TidemarkError('WRITE_PARTIAL', { historian, reason }, { cause: error })
    }
    if (typeof error === 'object' && error !== null && !saysWhatWasTaken(error)) NOTHING_CHANGED.add(error)
    return error
  }
}

function saysWhatWasTaken(error: object): boolean {
  return (
    error instanceof TidemarkError &&
    (error.code === 'WRITE_PARTIAL' || error.code === 'WRITE_OUTCOME_UNKNOWN')
  )
}

/** Its methods need no `this`: they may be taken out of it. */
function changeUnderWay(outcome: ChangeOutcome, signal: AbortSignal): RemoteChange {
  return { signal, request: (send, options) => makeRequest(outcome, signal, send, options) }
}

async function makeRequest<Answer>(
  outcome: ChangeOutcome,
  signal: AbortSignal,
  send: (attempt: Attempt) => Promise<Answer>,
  { isRepeatable = false, isTransient: mayRetry = isTransient, ...retries }: RequestOptions = {},
): Promise<Answer> {
  const request = {}
  let mayBeTaken = false
  const attemptOnce = async (number: number): Promise<Answer> => {
    let isOpen = false
    const attempt: Attempt = {
      signal,
      number,
      sent() {
        signal.throwIfAborted()
        isOpen = true
        outcome.sent(request)
      },
      refused() {
        isOpen = false
        if (!mayBeTaken) outcome.settled(request)
      },
      takenInPart: () => outcome.taken(),
    }
    try {
      const answer = await send(attempt)
      outcome.settled(request)
      outcome.taken()
      return answer
    } catch (error) {
      if (isOpen) {
        mayBeTaken = true
        outcome.lost(request, error)
      }
      throw error
    }
  }
  return retrySafely(attemptOnce, {
    ...retries,
    signal,
    isTransient: (error) => (isRepeatable || !mayBeTaken) && mayRetry(error),
  })
}
