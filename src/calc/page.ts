import type { SeriesContext } from './series.ts'

/** Points of a page of a streamed range: large enough that round trips do not count, small enough to hold many. */
const PAGE_POINTS = 20_000

/** Points of a page when a whole range is streamed. */
export function pagePoints(context: SeriesContext): number {
  return context.pagePoints ?? PAGE_POINTS
}

/** Evaluations that wait for their turn, in the order in which they asked. */
const waiting: (() => void)[] = []

/**
 * Lets timers and other calls run between two pages, and ends the evaluation when its call is over. Without it a long
 * evaluation over constants, which never waits for a historian, would keep its own deadline from passing. Between two turns
 * of the event loop only one evaluation goes on: a calculation of hundreds of parts that all breathe at once would otherwise
 * have them all go on in the same turn.
 */
export async function breathe({ signal }: SeriesContext): Promise<void> {
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(wakeNext)
  })
  signal?.throwIfAborted()
}

function wakeNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(wakeNext)
}
