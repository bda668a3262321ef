import { TidemarkError } from '../errors/tidemark-error.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'

/**
 * Gathers the queries of one turn of the event loop into one call. The call goes out on process.nextTick, which runs
 * after all promise continuations that are ready, so that labels which reached their next read through a different
 * number of awaits still travel together.
 */
export class Batch<Query, Result> {
  readonly #send: Send<Query, Result>
  #queries: Query[] = []
  /** Of the queries, in their order. */
  #waiters: Waiter<Result>[] = []
  #flushed: Promise<void> | null = null

  /** @param send answers as many results as it got queries, in their order */
  constructor(send: Send<Query, Result>) {
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
    this.#flushed ??= new Promise((resolve) => process.nextTick(() => resolve(this.#flush())))
    this.#queries.push(query)
    this.#waiters.push(waiter)
    return this.#flushed
  }

  #flush(): MaybePromise<void> {
    const queries = this.#queries
    const waiters = this.#waiters
    this.#queries = []
    this.#waiters = []
    this.#flushed = null
    return sendTogether(queries, waiters, this.#send)
  }
}

type Send<Query, Result> = (queries: readonly Query[]) => MaybePromise<readonly Result[]>

/**
 * Sends queries in one call, and tells each waiter what became of its own.
 * @param waiters  of the queries, in their order
 * @returns        a promise, which never rejects, when that has to be waited for; else they have been told
 */
export function sendTogether<Query, Result>(
  queries: readonly Query[],
  waiters: readonly Waiter<Result>[],
  send: Send<Query, Result>,
): MaybePromise<void> {
  let results: MaybePromise<readonly Result[]>
  try {
    results = send(queries)
  } catch (error) {
    return tellFailure(queries, waiters, send, error)
  }
  if (!(results instanceof Promise)) return tell(waiters, results)
  return results.then(
    (found) => tell(waiters, found),
    (error: unknown) => tellFailure(queries, waiters, send, error),
  )
}

function tell<Result>(waiters: readonly Waiter<Result>[], results: readonly Result[]): void {
  for (let i = 0; i < waiters.length; i++) waiters[i]!.resolve(results[i]!)
}

function tellFailure<Query, Result>(
  queries: readonly Query[],
  waiters: readonly Waiter<Result>[],
  send: Send<Query, Result>,
  error: unknown,
): MaybePromise<void> {
  if (queries.length > 1 && error instanceof TidemarkError && error.kind === 'corrupt') {
    // One damaged tag must not take the others' answers with it: ask for each alone.
    return Promise.all(queries.map((query, i) => sendTogether([query], [waiters[i]!], send))).then(() => {})
  }
  for (const waiter of waiters) waiter.reject(error)
}

/** Told once what became of a query. */
export interface Waiter<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}
