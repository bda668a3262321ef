import { TidemarkError } from '../errors/tidemark-error.ts'

type Send<Query, Result> = (queries: readonly Query[]) => Promise<readonly Result[]>

/**
 * Batcher (data loader): gathers the queries of one tick of the event loop into one call. The call goes out on
 * process.nextTick, which runs after all promise continuations that are ready, so that labels which reached their next
 * read through a different number of awaits still travel together.
 */
export class Batcher<Query, Result> {
  readonly #send: Send<Query, Result>
  #queries: Query[] = []
  /** Of the queries, in their order. */
  #waiters: PromiseWithResolvers<Result>[] = []

  /** @param send answers as many results as it got queries, in their order */
  constructor(send: Send<Query, Result>) {
    this.#send = send
  }

  add(query: Query): Promise<Result> {
    if (this.#queries.length === 0) process.nextTick(() => this.#flush())
    const waiter = Promise.withResolvers<Result>()
    this.#queries.push(query)
    this.#waiters.push(waiter)
    return waiter.promise
  }

  #flush(): void {
    const queries = this.#queries
    const waiters = this.#waiters
    this.#queries = []
    this.#waiters = []
    void sendAll(queries, waiters, this.#send)
  }
}

/** Sends queries in one call and settles each waiter; never rejects. */
async function sendAll<Query, Result>(
  queries: readonly Query[],
  waiters: readonly PromiseWithResolvers<Result>[],
  send: Send<Query, Result>,
): Promise<void> {
  try {
    const results = await send(queries)
    for (let i = 0; i < waiters.length; i++) waiters[i]!.resolve(results[i]!)
  } catch (error) {
    if (queries.length > 1 && error instanceof TidemarkError && error.kind === 'corrupt') {
      // One damaged tag must not take the others' answers with it: ask for each alone.
      await Promise.all(queries.map((query, i) => sendAll([query], [waiters[i]!], send)))
    } else for (const waiter of waiters) waiter.reject(error)
  }
}
