import { type Address, chunkOf, type EntryArena, type ReadChunk } from './entry-arena.ts'
import type { IdTable } from './id-table.ts'
import type { TagTexts } from './tag-catalog.ts'
import { EntryView } from './tag-entry.ts'
import type { OrderKind } from './text-compare.ts'
import { type EntryPlaces, TextOrder } from './text-order.ts'

/** Emptied chunks that may wait for the orders to know the new addresses. */
const WAITING = 8
/** With so many, orders that are not up to date are given up rather than have more wait. */
const MOST_WAITING = 128
/** Steps of the orders for each chunk that is emptied while they are told: some milliseconds. */
const STEPS_OF_CHUNK = 64

/** The texts of all tags, and the orders of them that searches have asked for. */
export class CatalogTexts implements TagTexts {
  readonly #arena: EntryArena
  readonly #ids: IdTable
  readonly #orders = new Map<OrderKind, TextOrder>()
  readonly #view = new EntryView()
  /** By the number of an emptied chunk where its entries have gone. */
  readonly #emptied = new Map<number, ReadonlyMap<Address, Address>>()
  /** Emptied chunks whose entries the orders are being told the addresses of; `null` for none. */
  #told: readonly number[] | null = null

  constructor(arena: EntryArena, ids: IdTable) {
    this.#arena = arena
    this.#ids = ids
  }

  get size(): number {
    return this.#ids.size
  }

  look(id: number, view: EntryView): boolean {
    const address = this.#ids.get(id)
    if (address !== 0) this.#arena.view(address, view)
    return address !== 0
  }

  idAt(address: Address): number {
    return this.#isLive(address) ? this.#arena.idAt(address) : 0
  }

  read(): readonly ReadChunk[] {
    return this.#arena.read()
  }

  order(kind: OrderKind): TextOrder {
    this.#freeTold()
    const known = this.#orders.get(kind)
    if (known !== undefined) return known
    const order = new TextOrder(kind, this.#arena, this.#places, this.#ids.addresses())
    this.#orders.set(kind, order)
    return order
  }

  /** Bytes reserved for the orders. */
  get orderBytes(): number {
    return [...this.#orders.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get hasOrders(): boolean {
    return this.#orders.size > 0
  }

  /** A tag has this entry now. */
  add(address: Address): void {
    for (const order of this.#orders.values()) order.add(address)
  }

  /** Moves what is left in a chunk to others. It is freed at once, or when the orders know where the entries are. */
  empty(chunk: number): void {
    const moved = new Map<Address, Address>()
    this.#arena.eachOf(chunk, this.#view, (address, id) => {
      const isStaged = this.#ids.staged(id) === address
      if (!isStaged && this.#ids.getAny(id) !== address) return
      const now = this.#arena.move(address, id, this.#view)
      if (isStaged) this.#ids.stage(id, now)
      else this.#ids.set(id, now)
      if (this.#orders.size > 0) moved.set(address, now)
    })
    if (this.#orders.size === 0) {
      this.#arena.free(chunk)
      return
    }
    this.#emptied.set(chunk, moved)
    for (let i = 0; i < STEPS_OF_CHUNK && !this.tellOrders(); i++);
    if (this.#emptied.size >= MOST_WAITING) this.#giveUpOrders()
  }

  /**
   * Has the orders get to know where entries are, a step of some microseconds for each call: to be called whenever an
   * entry was given up.
   * @returns whether nothing is left to do
   */
  tellOrders(): boolean {
    if (this.#told === null) {
      if (this.#emptied.size < WAITING) return true
      this.#told = [...this.#emptied.keys()]
      for (const order of this.#orders.values()) order.readdress()
    }
    for (const order of this.#orders.values()) if (order.isReaddressing) order.step()
    this.#freeTold()
    return this.#told === null
  }

  /** Frees the chunks of which no order has an address any more. */
  #freeTold(): void {
    if (this.#told === null) return
    for (const order of this.#orders.values()) if (order.isReaddressing) return
    for (const chunk of this.#told) this.#free(chunk)
    this.#told = null
  }

  /** The next search makes them anew. */
  #giveUpOrders(): void {
    this.#orders.clear()
    for (const chunk of this.#emptied.keys()) this.#free(chunk)
    this.#told = null
  }

  #free(chunk: number): void {
    this.#emptied.delete(chunk)
    this.#arena.free(chunk)
  }

  readonly #now = (address: Address): Address => {
    let now = address
    while (this.#emptied.size > 0) {
      const next = this.#emptied.get(chunkOf(now))?.get(now)
      if (next === undefined) break
      now = next
    }
    return now
  }

  readonly #isLive = (address: Address): boolean =>
    this.#ids.get(this.#arena.idAt(address)) === this.#now(address)

  readonly #places: EntryPlaces = { isLive: this.#isLive, now: this.#now }
}
