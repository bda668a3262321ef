import type { Address } from './entry-arena.ts'

const PAGE_IDS = 4_096

/**
 * Addresses by id, in pages that are there while any of their ids is in use: ids are never used again, so that many are
 * of nothing.
 */
export class IdTable {
  readonly #pages: (Uint32Array | null)[] = []
  readonly #used: number[] = []
  /** Ids in use, hidden ones too. */
  size = 0
  /** Ids in use are below this. */
  end = 1
  /** Ids from here on are hidden: they look as if they were not in use. */
  hiddenFrom = Number.POSITIVE_INFINITY

  /** 0 for an id that is not in use. */
  get(id: number): Address {
    return id >= this.hiddenFrom ? 0 : this.getAny(id)
  }

  /** As `get`, for hidden ids too. */
  getAny(id: number): Address {
    const page = this.#pages[Math.floor(id / PAGE_IDS)]
    return page === undefined || page === null ? 0 : page[id % PAGE_IDS]!
  }

  /** @param address  0 to give the id up */
  set(id: number, address: Address): void {
    const number = Math.floor(id / PAGE_IDS)
    while (this.#pages.length <= number) {
      this.#pages.push(null)
      this.#used.push(0)
    }
    let page = this.#pages[number]!
    if (page === null) {
      if (address === 0) return
      page = new Uint32Array(PAGE_IDS)
      this.#pages[number] = page
    }
    if (id >= this.end) this.end = id + 1
    const before = page[id % PAGE_IDS]!
    page[id % PAGE_IDS] = address
    const change = (address === 0 ? 0 : 1) - (before === 0 ? 0 : 1)
    this.size += change
    this.#used[number]! += change
    if (this.#used[number] === 0) this.#pages[number] = null
  }

  /**
   * The first id from this one on that has a page, which says nothing about whether it is in use; `end` without one.
   */
  nextWithPage(id: number): number {
    if (id >= this.end || (this.#pages[Math.floor(id / PAGE_IDS)] ?? null) !== null) return id
    let number = Math.floor(id / PAGE_IDS) + 1
    while (number < this.#pages.length && this.#pages[number] === null) number++
    return Math.min(number * PAGE_IDS, this.end)
  }

  /** Ids in use that are not hidden, ascending. */
  *ids(): Generator<number, void> {
    for (let number = 0; number < this.#pages.length; number++) {
      for (let at = 0; at < PAGE_IDS; at++) {
        const page = this.#pages[number]
        if (page === null || page === undefined) break
        const id = number * PAGE_IDS + at
        if (id >= this.hiddenFrom) return
        if (page[at] !== 0) yield id
      }
    }
  }
}
