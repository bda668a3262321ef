import { isCorrupt } from '../errors/tidemark-error.ts'

type Send<Query, Result> = (queries: readonly Query[]) => Promise<readonly Result[]>

/**
 * Batcher (data loader): gathers the queries of one tick of the event loop into one call. The call goes out on
 * process.nextTick, which runs after all promise continuations that are ready, so that labels which reached their next
 * read through a different number of awaits still travel together.
 * @param send answers as many results as it got queries, in their order
 */
export function batcher<Query, Result>(send: Send<Query, Result>): (query: Query) => Promise<Result> {
  let waiters: Waiter<Query, Result>[] = []
  const flush = (): void => {
    const flushed = waiters
    waiters = []
    void togetherOrAlone(
      flushed,
      async (some) => {
        const results = await send(some.map(({ query }) => query))
        for (let i = 0; i < some.length; i++) some[i]!.resolve(results[i]!)
      },
      ({ reject }, error) => reject(error),
    )
  }
  return (query) => {
    if (waiters.length === 0) process.nextTick(flush)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiters.push({ query, resolve, reject })
    return promise
  }
}

interface Waiter<Query, Result> {
  readonly query: Query
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Does work for some items together; where one of them is damaged, for each alone, so that it does not take the others
 * with it. Never rejects.
 * @param fail called with each item whose work failed
 */
export async function togetherOrAlone<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
  fail: (item: Item, error: unknown) => void,
): Promise<void> {
  try {
    await work(items)
  } catch (error) {
    if (items.length > 1 && isCorrupt(error))
      await Promise.all(items.map((item) => togetherOrAlone([item], work, fail)))
    else for (const item of items) fail(item, error)
  }
}
