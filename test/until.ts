import { setTimeout as wait } from 'node:timers/promises'

/** A machine that is slow or busy takes long, and one that hangs is told all the same. */
const LONGEST_MS = 240_000

/**
 * Waits for what must happen, however long a slow machine takes for it: asks until the answer is neither false, null
 * nor undefined, and gives it. A passing test waits no longer than it has to.
 * @param what     must happen, for the error after four minutes without it; what rejects is told at once
 * @param pauseMs  between two questions
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  what: string,
  pauseMs = 20,
): Promise<Exclude<T, false | null | undefined>> {
  const due = performance.now() + LONGEST_MS
  for (;;) {
    const answer = await ask()
    if (answer !== false && answer !== null && answer !== undefined)
      return answer as Exclude<T, false | null | undefined>
    if (performance.now() > due) throw new Error(`Not within ${LONGEST_MS / 1000} s: ${what}`)
    await wait(pauseMs)
  }
}

/**
 * Waits like `until`, for a call that fails at first to succeed. @param may tells the failures that are to be waited
 * out
 */
export async function untilDone<T>(call: () => Promise<T>, may: (error: unknown) => boolean): Promise<T> {
  const due = performance.now() + LONGEST_MS
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!may(error) || performance.now() > due) throw error
      await wait(20)
    }
  }
}
