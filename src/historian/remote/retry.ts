import { isTransient } from './unavailable.ts'

/** How a call is tried again. */
export interface RetryOptions {
  /** Ends the waiting: the call rejects with its reason. */
  readonly signal: AbortSignal
  /** How often the call is made at most, at least 1; 3 when left out. */
  readonly attempts?: number
  /** Upper bound of the first pause in milliseconds, doubled for each one after; 100 when left out. */
  readonly firstPauseMs?: number
  /** Upper bound of any pause in milliseconds; 2000 when left out. */
  readonly longestPauseMs?: number
  /** Whether an error may be gone at the next try; a broken or refused connection when left out. */
  readonly isTransient?: (error: unknown) => boolean
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Makes a call that may be made twice without harm, and makes it again after a pause while it fails with an error that
 * is transient. A caller says by calling this that the call is safe: every read is, and a write whose repetition leaves
 * the same points. Rejects with the last error, or with the signal's reason.
 */
export async function retrySafely<Result>(
  call: (attempt: number) => Promise<Result>,
  options: RetryOptions,
): Promise<Result> {
  const { signal, attempts = ATTEMPTS, isTransient: mayRetry = isTransient } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt)
    } catch (error) {
      signal.throwIfAborted()
      if (attempt >= attempts || !mayRetry(error)) throw error
    }
    await pause(pauseBefore(attempt, options), signal)
  }
}

/**
 * Backoff with jitter: between half of the bound and the bound, so that calls that failed together are not retried
 * together.
 */
function pauseBefore(attempt: number, options: RetryOptions): number {
  const { firstPauseMs = FIRST_PAUSE_MS, longestPauseMs = LONGEST_PAUSE_MS } = options
  const bound = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
  return (bound * (1 + Math.random())) / 2
}

/** Resolves after the time, or rejects with the signal's reason as soon as it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
