/** A change that waits for its turn. */
interface Waiting<Item> {
  readonly item: Item
  resolve(): void
  reject(error: unknown): void
}

/**
 * One change at a time, and those that may share a commit share one: while a commit is under way, whatever arrives
 * gathers, and the next commit takes as much of it as its size allows. So each is as durable as a commit of its own,
 * and many cost as much as one.
 */
export class ChangeQueue<Item> {
  readonly #sizeOf: (item: Item) => number
  readonly #most: number
  readonly #commit: (group: readonly Item[]) => Promise<readonly (unknown | null)[]>
  #waiting: Waiting<Item>[] = []
  #running: Promise<void> | null = null

  /**
   * @param sizeOf  size of an item; Infinity for one that is committed alone
   * @param most    size of the items that are committed together; a larger item is committed alone
   * @param commit  gives for each item of the group null or what it failed with; a rejection is that of all
   */
  constructor(
    sizeOf: (item: Item) => number,
    most: number,
    commit: (group: readonly Item[]) => Promise<readonly (unknown | null)[]>,
  ) {
    this.#sizeOf = sizeOf
    this.#most = most
    this.#commit = commit
  }

  /** Resolves when the item is committed. Rejects with the signal's reason as long as its commit has not begun. */
  add(item: Item, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      const withdraw = () => {
        const place = this.#waiting.indexOf(waiting)
        if (place < 0) return
        this.#waiting.splice(place, 1)
        reject(signal.reason)
      }
      const settled = () => signal.removeEventListener('abort', withdraw)
      const waiting: Waiting<Item> = {
        item,
        resolve: () => {
          settled()
          resolve()
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      }
      signal.addEventListener('abort', withdraw)
      this.#waiting.push(waiting)
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing waits or is under way any more. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  async #run(): Promise<void> {
    // Whatever is asked for in the same turn of the event loop comes into the first group, too.
    await null
    while (this.#waiting.length > 0) {
      const items = [this.#waiting[0]!.item]
      let size = this.#sizeOf(items[0]!)
      while (items.length < this.#waiting.length) {
        const { item } = this.#waiting[items.length]!
        size += this.#sizeOf(item)
        if (size > this.#most) break
        items.push(item)
      }
      const group = this.#waiting.splice(0, items.length)
      let outcomes: readonly (unknown | null)[]
      try {
        outcomes = await this.#commit(items)
      } catch (error) {
        outcomes = group.map(() => error)
      }
      group.forEach((waiting, at) => {
        const outcome = outcomes[at]
        if (outcome === null) waiting.resolve()
        else waiting.reject(outcome)
      })
    }
    this.#running = null
  }
}
