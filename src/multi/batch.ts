import { TidemarkError } from '../errors/tidemark-error.ts'
import type { MaybePromise } from '../historian/steps.ts'

/**
 * Gathers the queries of one turn of the event loop into one call. The call goes out on process.nextTick, which runs
 * after all promise continuations that are ready, so that labels which reached their next read through a different
 * number of awaits still travel together.
 */
export class Batch<Query, Result> {
  readonly #send: (queries: readonly Query[]) => MaybePromise<readonly Result[]>
  #queries: Query[] = []
  /** Of the queries, in their order. */
  #waiters: Waiter<Result>[] = []
  #flushed: Promise<void> | null = null

  /** @param send answers as many results as it got queries, in their order */
  constructor(send: (queries: readonly Query[]) => MaybePromise<readonly Result[]>) {
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
    this.#flushed ??= new Promise((resolve) => process.nextTick(() => resolve(this.flush())))
    this.gather(query, waiter)
    return this.#flushed
  }

  /** As `addFor`, for one who knows that nothing else is asked for in this turn, and calls `flush`. */
  gather(query: Query, waiter: Waiter<Result>): void {
    this.#queries.push(query)
    this.#waiters.push(waiter)
  }

  /** Sends what was gathered. A promise, which never rejects, when that has to be waited for; else the waiters have been told. */
  flush(): MaybePromise<void> {
    const queries = this.#queries
    const waiters = this.#waiters
    this.#queries = []
    this.#waiters = []
    this.#flushed = null
    if (queries.length === 0) return
    let results: MaybePromise<readonly Result[]>
    try {
      results = this.#send(queries)
    } catch (error) {
      return this.#failed(queries, waiters, error)
    }
    if (!(results instanceof Promise)) return tell(waiters, results)
    return results.then(
      (found) => tell(waiters, found),
      (error: unknown) => this.#failed(queries, waiters, error),
    )
  }

  #failed(
    queries: readonly Query[],
    waiters: readonly Waiter<Result>[],
    error: unknown,
  ): Promise<void> | undefined {
    if (queries.length > 1 && error instanceof TidemarkError && error.kind === 'corrupt') {
      // One damaged tag must not take the others' answers with it: ask for each alone.
      return Promise.all(queries.map((query, i) => this.#sendAlone(query, waiters[i]!))).then(() => {})
    }
    for (const waiter of waiters) waiter.reject(error)
    return undefined
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

function tell<Result>(waiters: readonly Waiter<Result>[], results: readonly Result[]): void {
  for (let i = 0; i < waiters.length; i++) waiters[i]!.resolve(results[i]!)
}

/** Told once what became of a query. */
export interface Waiter<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}
