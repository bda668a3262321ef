import { TidemarkError } from '../errors/tidemark-error.ts'

/**
 * Gathers the queries of one turn of the event loop into one call. The call goes out on process.nextTick, which runs
 * after all promise continuations that are ready, so that labels which reached their next read through a different
 * number of awaits still travel together.
 */
export class Batch<Query, Result> {
  readonly #send: (queries: readonly Query[]) => Promise<readonly Result[]>
  #queries: Query[] = []
  /** Of the queries, in their order. */
  #waiters: Waiter<Result>[] = []
  #flushed: Promise<void> = Promise.resolve()

  /** @param send answers as many results as it got queries, in their order */
  constructor(send: (queries: readonly Query[]) => Promise<readonly Result[]>) {
    this.#send = send
  }

  add(query: Query): Promise<Result> {
    const waiter = Promise.withResolvers<Result>()
    this.addFor(query, waiter)
    return waiter.promise
  }

  /**
   * As `add`, for one that waits for many results and needs no promise for each.
   * @returns resolves when the waiters of this turn were told; never rejects
   */
  addFor(query: Query, waiter: Waiter<Result>): Promise<void> {
    if (this.#queries.length === 0) {
      this.#flushed = new Promise((resolve) => process.nextTick(() => resolve(this.#flush())))
    }
    this.#queries.push(query)
    this.#waiters.push(waiter)
    return this.#flushed
  }

  async #flush(): Promise<void> {
    const queries = this.#queries
    const waiters = this.#waiters
    this.#queries = []
    this.#waiters = []
    try {
      const results = await this.#send(queries)
      for (let i = 0; i < waiters.length; i++) waiters[i]!.resolve(results[i]!)
    } catch (error) {
      if (queries.length > 1 && error instanceof TidemarkError && error.kind === 'corrupt') {
        // One damaged tag must not take the others' answers with it: ask for each alone.
        await Promise.all(queries.map((query, i) => this.#sendAlone(query, waiters[i]!)))
      } else {
        for (const waiter of waiters) waiter.reject(error)
      }
    }
  }

  async #sendAlone(query: Query, waiter: Waiter<Result>): Promise<void> {
    try {
      const results = await this.#send([query])
      waiter.resolve(results[0]!)
    } catch (error) {
      waiter.reject(error)
    }
  }
}

/** Told once what became of a query. */
export interface Waiter<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}
