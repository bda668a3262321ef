import type { CallContext } from '../../historian/contract.ts'
import { changedNothing, type RemoteChange } from '../../historian/remote/change.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'

/** Rows that wait are sent together up to so many. */
const MAX_JOINED_ROWS = 1_000_000

/** Rows that may wait: beyond it a change is refused, since the server takes less than it is sent. */
const MAX_WAITING_ROWS = 20_000_000

interface Waiting<Item> {
  readonly item: Item
  readonly rows: number
  readonly signal: AbortSignal
  readonly sent: () => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Changes of one table, one insert at a time: what comes meanwhile waits and goes together, because each insert makes a
 * file at the server, and because 18.16 takes one insert with a quorum at a time.
 */
export class GroupedInserts<Item> {
  readonly #historian: string
  readonly #insert: (items: readonly Item[]) => Promise<void>
  #queue: Waiting<Item>[] = []
  #waitingRows = 0
  #running: Promise<void> | null = null
  /** The end of the last chunk of work that has the table for itself. */
  #turn: Promise<void> = Promise.resolve()

  /** @param insert sends the rows of items in the order in which they were added, in one insert */
  constructor(historian: string, insert: (items: readonly Item[]) => Promise<void>) {
    this.#historian = historian
    this.#insert = insert
  }

  /** Adds an item as a request of a change: what is known of its insert is known of that. */
  async request(change: RemoteChange, item: Item, rows: number): Promise<void> {
    await change.request(
      async (attempt) => {
        try {
          await this.add(item, rows, attempt, attempt.sent)
        } catch (error) {
          if (changedNothing(error)) attempt.refused()
          throw error
        }
      },
      // The insert itself is tried again.
      { attempts: 1 },
    )
  }

  /**
   * Resolves when the rows of the item are stored, or rejects with the error of their insert.
   * @param sent called when they do not wait any more
   */
  async add(item: Item, rows: number, { signal }: CallContext, sent: () => void = () => {}): Promise<void> {
    signal.throwIfAborted()
    if (this.#waitingRows + rows > MAX_WAITING_ROWS) {
      throw unavailable(this.#historian, `${this.#waitingRows} points wait for it already`)
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Who waits may leave; rows that are on their way go on.
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    this.#waitingRows += rows
    this.#queue.push({ item, rows, signal, sent, resolve, reject })
    this.#running ??= this.#run()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Does other work on the table while no insert is under way. */
  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    await before
    try {
      return await work()
    } finally {
      resolve()
    }
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    await this.#running
    await this.#turn
  }

  async #run(): Promise<void> {
    // What comes in the same turn of the event loop comes together.
    await null
    while (this.#queue.length > 0) await this.alone(() => this.#sendNext())
    this.#running = null
  }

  async #sendNext(): Promise<void> {
    const group = this.#next()
    const wanted = group.filter(({ signal }) => !signal.aborted)
    try {
      for (const { sent } of wanted) sent()
      if (wanted.length > 0) await this.#insert(wanted.map(({ item }) => item))
      for (const { resolve } of wanted) resolve()
    } catch (error) {
      for (const { reject } of wanted) reject(error)
    } finally {
      for (const { rows } of group) this.#waitingRows -= rows
    }
  }

  #next(): readonly Waiting<Item>[] {
    let rows = 0
    let count = 0
    for (const waiting of this.#queue) {
      rows += waiting.rows
      if (count > 0 && rows > MAX_JOINED_ROWS) break
      count++
    }
    return this.#queue.splice(0, count)
  }
}
