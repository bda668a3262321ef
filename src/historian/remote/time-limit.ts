import type { CallContext } from '../contract.ts'
import { timedOut } from './unavailable.ts'

/**
 * Runs one call to a historian under a time limit of its own, shorter than the deadline of the whole call: a historian
 * that does not answer then fails its own labels with a sentence that names it, while the others' answers are still in
 * time. The work is given a signal that is aborted by whichever comes first. Rejects with HISTORIAN_UNAVAILABLE after
 * the time, or with the caller's reason.
 * @param seconds above 0
 */
export async function withTimeLimit<Result>(
  historian: string,
  seconds: number,
  { signal, warn }: CallContext,
  work: (context: CallContext) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = (reason: unknown) => {
    controller.abort(reason)
    reject(reason)
  }
  const cancel = () => end(signal.reason)
  const timer = setTimeout(() => end(timedOut(historian, seconds)), seconds * 1_000)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await Promise.race([
      work(warn === undefined ? { signal: controller.signal } : { signal: controller.signal, warn }),
      ended,
    ])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}
