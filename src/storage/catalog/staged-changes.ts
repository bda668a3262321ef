import type { CatalogTexts } from './catalog-texts.ts'
import type { EntryArena } from './entry-arena.ts'
import type { IdTable } from './id-table.ts'
import { hashEntry, type NameIndex } from './name-index.ts'
import type { Pace } from './tag-catalog.ts'
import { EntryView } from './tag-entry.ts'
import { hasSameName } from './text-compare.ts'
import { AddressList } from './text-order.ts'

/**
 * Changes of tags that are there: worked out in slices, shown all at one moment, and settled in slices again. Until
 * that is done the index of names has the tags under their names before and after; which of them counts is seen by the
 * entry that is shown.
 */
export class StagedChanges {
  readonly #arena: EntryArena
  readonly #ids: IdTable
  readonly #names: NameIndex
  readonly #texts: CatalogTexts
  readonly #before = new EntryView()
  readonly #after = new EntryView()
  /** Ids of the tags, in the order of their changes, and how many of them are settled. */
  #tags = new AddressList()
  #settled = 0
  #isShown = false

  constructor(arena: EntryArena, ids: IdTable, names: NameIndex, texts: CatalogTexts) {
    this.#arena = arena
    this.#ids = ids
    this.#names = names
    this.#texts = texts
  }

  /** Whether a tag can be staged: it is there, and was not changed before. */
  takes(id: number): boolean {
    return this.#ids.get(id) !== 0 && this.#ids.staged(id) === 0
  }

  put(id: number, entry: EntryView): void {
    const before = this.#arena.view(this.#ids.get(id), this.#before)
    if (before.isSame(entry)) return
    this.#ids.stage(id, this.#arena.append(id, entry))
    if (!hasSameName(before, entry)) this.#names.add(hashEntry(entry), id)
    this.#tags.push(id)
  }

  remove(id: number): void {
    this.#ids.stage(id, 0)
    this.#tags.push(id)
  }

  /** Has everybody see the changes; gives whether there are any that were not seen. */
  show(): boolean {
    if (this.#isShown || this.#tags.length === 0) return false
    this.#ids.show()
    this.#isShown = true
    for (const id of this.#texts.hasOrders ? this.#tags.all() : []) {
      const address = this.#ids.get(id)
      if (address !== 0) this.#texts.add(address)
    }
    return true
  }

  /**
   * Gives up what was before the changes that are shown. Throws what `pause` throws; `settleNow` does the rest then.
   */
  async settle(pace: Pace): Promise<void> {
    while (this.#isShown) {
      this.#settleNext()
      if (pace.isDue()) await pace.pause()
    }
    while (!this.#texts.tellOrders()) if (pace.isDue()) await pace.pause()
  }

  settleNow(): void {
    while (this.#isShown) this.#settleNext()
  }

  #settleNext(): void {
    const id = this.#tags.all()[this.#settled++]!
    const address = this.#ids.getAny(id)
    const before = this.#arena.view(address, this.#before)
    const now = this.#ids.get(id)
    if (now === 0 || !hasSameName(before, this.#arena.view(now, this.#after))) {
      this.#names.remove(hashEntry(before), id)
    }
    // What is not in use is not moved with the rest of its chunk.
    this.#ids.settle(id)
    const sparse = this.#arena.giveUp(address, this.#before)
    if (sparse >= 0) this.#texts.empty(sparse)
    this.#texts.tellOrders()
    if (this.#settled < this.#tags.length) return
    this.#tags = new AddressList()
    this.#settled = 0
    this.#isShown = false
    this.#ids.settled()
  }
}
