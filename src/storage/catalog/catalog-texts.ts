import type { Address, EntryArena, ReadChunk } from './entry-arena.ts'
import type { IdTable } from './id-table.ts'
import type { TagTexts } from './tag-catalog.ts'
import { EntryView } from './tag-entry.ts'
import type { OrderKind } from './text-compare.ts'
import { TextOrder } from './text-order.ts'

/**
 * Emptied chunks that may wait for the orders to know the new addresses; more while an order is being worked on, as far
 * as MOST_WAITING.
 */
const WAITING = 8
const MOST_WAITING = 128

/** The texts of all tags, and the orders of them that searches have asked for. */
export class CatalogTexts implements TagTexts {
  readonly #arena: EntryArena
  readonly #ids: IdTable
  readonly #orders = new Map<OrderKind, TextOrder>()
  readonly #view = new EntryView()
  /** Where entries of emptied chunks are now. */
  readonly #moved = new Map<Address, Address>()
  #emptied: number[] = []

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
    const known = this.#orders.get(kind)
    if (known !== undefined) return known
    const order = new TextOrder(kind, this.#arena, this.#isLive)
    this.#fill(order)
    this.#orders.set(kind, order)
    return order
  }

  get hasOrders(): boolean {
    return this.#orders.size > 0
  }

  /** A tag has this entry now. */
  add(address: Address): void {
    for (const order of this.#orders.values()) order.add(address)
  }

  /** Moves what is left in a chunk to others. */
  empty(chunk: number): void {
    this.#arena.eachOf(chunk, this.#view, (address, id) => {
      const isStaged = this.#ids.staged(id) === address
      if (!isStaged && this.#ids.getAny(id) !== address) return
      const now = this.#arena.move(address, id, this.#view)
      if (isStaged) this.#ids.stage(id, now)
      else this.#ids.set(id, now)
      if (this.#orders.size > 0) this.#moved.set(address, now)
    })
    this.#emptied.push(chunk)
    if (this.#orders.size === 0) this.#free()
    else if (this.#emptied.length >= WAITING) this.#settle()
  }

  /**
   * Has the orders know where everything is, unless one is being worked on; that work is given up rather than kept
   * waiting for ever.
   */
  #settle(): void {
    for (const [kind, order] of this.#orders) {
      if (!order.isWorking) continue
      if (this.#emptied.length < MOST_WAITING) return
      this.#orders.delete(kind)
    }
    const newAddress = (address: Address) => (this.#isLive(address) ? this.#now(address) : 0)
    for (const order of this.#orders.values()) order.replace(newAddress)
    this.#free()
  }

  #free(): void {
    for (const chunk of this.#emptied) this.#arena.free(chunk)
    this.#emptied = []
    this.#moved.clear()
  }

  #now(address: Address): Address {
    let now = address
    for (let next = this.#moved.get(now); next !== undefined; next = this.#moved.get(now)) now = next
    return now
  }

  readonly #isLive = (address: Address): boolean =>
    this.#ids.get(this.#arena.idAt(address)) === (this.#moved.size === 0 ? address : this.#now(address))

  #fill(order: TextOrder): void {
    for (const id of this.#ids.ids()) order.add(this.#ids.get(id))
  }
}
