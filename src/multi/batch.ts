import { TidemarkError } from '../errors/tidemark-error.ts'

/**
 * Gathers the queries of one turn of the event loop into one call. The call goes out on process.nextTick, which runs
 * after all promise continuations that are ready, so that labels which reached their next read through a different
 * number of awaits still travel together.
 */
export class Batch<Query, Result> {
  readonly #send: (queries: readonly Query[]) => Promise<readonly Result[]>
  #waiting: Waiter<Query, Result>[] = []

  /** @param send answers as many results as it got queries, in their order */
  constructor(send: (queries: readonly Query[]) => Promise<readonly Result[]>) {
    this.#send = send
  }

  add(query: Query): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    if (this.#waiting.length === 0) process.nextTick(() => void this.#flush())
    this.#waiting.push({ query, resolve, reject })
    return promise
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      const results = await this.#send(waiting.map((waiter) => waiter.query))
      waiting.forEach((waiter, index) => {
        waiter.resolve(results[index]!)
      })
    } catch (error) {
      if (waiting.length > 1 && error instanceof TidemarkError && error.kind === 'corrupt') {
        // One damaged tag must not take the others' answers with it: ask for each alone.
        await Promise.all(waiting.map((waiter) => this.#sendAlone(waiter)))
      } else {
        for (const waiter of waiting) waiter.reject(error)
      }
    }
  }

  async #sendAlone(waiter: Waiter<Query, Result>): Promise<void> {
    try {
      const results = await this.#send([waiter.query])
      waiter.resolve(results[0]!)
    } catch (error) {
      waiter.reject(error)
    }
  }
}

interface Waiter<Query, Result> {
  readonly query: Query
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}
