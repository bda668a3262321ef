import type { Address } from './entry-arena.ts'

const PAGE_IDS = 4_096
/** Stands for an id that is given up, where an address is staged; no address is as high. */
const GIVEN_UP = 0xffff_ffff

/**
 * Addresses by id, in pages that are there while any of their ids is in use: ids are never used again, so that many are
 * of nothing.
 */
export class IdTable {
  readonly #pages: (Uint32Array | null)[] = []
  readonly #used: number[] = []
  /** What addresses are to become, as pages too; 0 for one that stays. */
  #staged: (Uint32Array | undefined)[] = []
  #isShown = false
  /** Staged ids that are given up. */
  #givenUp = 0
  #size = 0
  /** Ids in use are below this. */
  end = 1
  /** Ids from here on are hidden: they look as if they were not in use. */
  hiddenFrom = Number.POSITIVE_INFINITY

  /** Ids in use, hidden ones too. */
  get size(): number {
    return this.#isShown ? this.#size - this.#givenUp : this.#size
  }

  /** Bytes reserved. */
  get bytes(): number {
    const pages = [...this.#pages, ...this.#staged].filter((page) => page !== null && page !== undefined)
    return pages.length * PAGE_IDS * Uint32Array.BYTES_PER_ELEMENT
  }

  /** 0 for an id that is not in use. */
  get(id: number): Address {
    if (id >= this.hiddenFrom) return 0
    const staged = this.#isShown ? this.staged(id) : 0
    if (staged === 0) return this.getAny(id)
    return staged === GIVEN_UP ? 0 : staged
  }

  /** As `get`, for hidden ids too, and without regard to what is staged. */
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
    this.#size += change
    this.#used[number]! += change
    if (this.#used[number] === 0) this.#pages[number] = null
  }

  /** What was staged for an id: an address, 0 for nothing, and what is no address where it is given up. */
  staged(id: number): number {
    return this.#staged[Math.floor(id / PAGE_IDS)]?.[id % PAGE_IDS] ?? 0
  }

  /**
   * Has an id in use get another address when what is staged is shown: very many ids change at one moment then.
   * @param address  0 to give the id up
   */
  stage(id: number, address: Address): void {
    const number = Math.floor(id / PAGE_IDS)
    let page = this.#staged[number]
    if (page === undefined) {
      page = new Uint32Array(PAGE_IDS)
      this.#staged[number] = page
    }
    page[id % PAGE_IDS] = address === 0 ? GIVEN_UP : address
    if (address === 0) this.#givenUp++
  }

  /** Has `get` give what is staged. */
  show(): void {
    this.#isShown = true
  }

  /** Makes what is staged of an id, and shown, its address. */
  settle(id: number): void {
    const staged = this.staged(id)
    if (staged === 0) return
    this.#staged[Math.floor(id / PAGE_IDS)]![id % PAGE_IDS] = 0
    if (staged === GIVEN_UP) this.#givenUp--
    this.set(id, staged === GIVEN_UP ? 0 : staged)
  }

  /** To be called when all that was staged is settled. */
  settled(): void {
    this.#staged = []
    this.#isShown = false
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

  /**
   * Addresses of all ids in use that are not hidden, ascending by id, and zeros between them: copied page by page, a
   * million in some 2 ms.
   */
  addresses(): Uint32Array<ArrayBuffer> {
    const end = Math.min(this.end, this.hiddenFrom)
    const all = new Uint32Array(end)
    for (const [number, page] of this.#pages.entries()) {
      const first = number * PAGE_IDS
      if (first >= end) break
      if (page !== null) all.set(page.subarray(0, end - first), first)
      if (this.#isShown && this.#staged[number] !== undefined) this.#putStaged(all, first)
    }
    return all
  }

  #putStaged(all: Uint32Array, first: number): void {
    const end = Math.min(first + PAGE_IDS, all.length)
    for (let id = first; id < end; id++) all[id] = this.get(id)
  }
}
