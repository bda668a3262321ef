import { MemoryDraft } from './catalog-draft.ts'
import { CatalogTexts } from './catalog-texts.ts'
import { type Address, EntryArena } from './entry-arena.ts'
import { IdTable } from './id-table.ts'
import { hashEntry, NameIndex } from './name-index.ts'
import { StagedChanges } from './staged-changes.ts'
import type { CatalogDraft, Pace, TagCatalog, TagEntries } from './tag-catalog.ts'
import {
  type ChangeTarget,
  readChanges,
  readSomeChanges,
  verifyChanges,
  verifySomeChanges,
  verifyVersion,
} from './tag-changes.ts'
import { EntryView } from './tag-entry.ts'
import { TagLists } from './tag-lists.ts'
import type { TagRecord } from './tag-record.ts'

/** Changes that are prepared before the clock is looked at. */
const CHANGES_AT_ONCE = 16

/**
 * Tags as bytes in a few large buffers, which collections of garbage never look into; records are made as they are
 * asked for. 30 to 50 bytes a tag beside its texts, and 4 more for each order that searches wanted (text-order.ts).
 */
export class MemoryCatalog implements TagCatalog {
  readonly #arena = new EntryArena()
  readonly #ids = new IdTable()
  readonly #names: NameIndex
  readonly #lists = new TagLists()
  readonly #view = new EntryView()
  /** Changes of tags that are there, of what was prepared first. */
  readonly #staged: StagedChanges
  readonly texts: CatalogTexts
  readonly entries: TagEntries
  readonly #target: ChangeTarget
  #hasChanged = false
  /** What was prepared and not applied yet, in order; its tags are in the table and the index, hidden. */
  #prepared: Prepared[] = []
  #hidden = 0
  /** Id of the next new tag. */
  nextId = 1
  version = 0

  constructor() {
    const [ids, arena, view] = [this.#ids, this.#arena, this.#view]
    const hasName = (address: Address, name: string) =>
      address !== 0 && arena.view(address, view).hasName(name)
    this.#names = new NameIndex({ hasName: (id, name) => hasName(ids.get(id), name) })
    this.texts = new CatalogTexts(arena, ids)
    this.#staged = new StagedChanges(arena, ids, this.#names, this.texts)
    this.entries = new Entries(this, arena, ids)
    this.#target = {
      put: (id, entry) => this.#put(id, entry),
      remove: (id) => this.#remove(id),
      nextId: (id) => {
        this.nextId = Math.max(this.nextId, id)
      },
    }
  }

  get size(): number {
    return this.#ids.size - this.#hidden
  }

  /** Bytes of memory set aside for entries. */
  get reservedBytes(): number {
    return this.#arena.bytes
  }

  /** Bytes of memory of the tables beside them: of ids and of names, and the orders that searches wanted. */
  get tableBytes(): number {
    return this.#ids.bytes + this.#names.bytes + this.texts.orderBytes
  }

  find(name: string): TagRecord | null {
    const id = this.#names.find(name)
    return id === 0 ? null : this.#arena.view(this.#ids.get(id), this.#view).record(id, name)
  }

  idOf(name: string): number {
    return this.#names.find(name)
  }

  get(id: number): TagRecord | null {
    const address = this.#ids.get(id)
    return address === 0 ? null : this.#arena.view(address, this.#view).record(id)
  }

  findList(names: readonly string[]): Uint32Array | null {
    const known = this.#lists.find(names, this.version)
    if (known !== null) return known
    const ids = new Uint32Array(names.length)
    for (let i = 0; i < names.length; i++) {
      const id = this.#names.find(names[i]!)
      if (id === 0) return null
      ids[i] = id
    }
    this.#lists.remember(names, ids, this.version)
    return ids
  }

  draft(): CatalogDraft {
    return new MemoryDraft(this)
  }

  async prepare(changes: Uint8Array, pace: Pace): Promise<void> {
    const begin = verifyVersion(changes)
    for (let at = begin; at < changes.length; ) {
      at = verifySomeChanges(changes, at, CHANGES_AT_ONCE)
      if (pace.isDue()) await pace.pause()
    }
    this.#staged.settleNow()
    const last = this.#prepared.at(-1)
    // What is left of it makes tags with lower ids when it is applied.
    if (last !== undefined && last.at < last.changes.length) return
    const first = last?.end ?? this.nextId
    const prepared = { changes, at: begin, first, end: first }
    // Changes of tags that are there are shown with the first record.
    const staged = last === undefined ? this.#staged : null
    if (staged !== null) this.#ids.hiddenFrom = first
    this.#prepared.push(prepared)
    const target = {
      takes: (id: number, isPut: boolean) =>
        isPut && id >= prepared.end ? true : id < first && staged?.takes(id) === true,
      put: (id: number, entry: EntryView) => {
        if (id < first) staged?.put(id, entry)
        else this.#hide(prepared, id, entry)
      },
      remove: (id: number) => staged?.remove(id),
    }
    for (;;) {
      const at = readSomeChanges(changes, prepared.at, CHANGES_AT_ONCE, target)
      if (at === prepared.at) return
      prepared.at = at
      if (pace.isDue()) await pace.pause()
    }
  }

  #hide(prepared: Prepared, id: number, entry: EntryView): void {
    this.#ids.set(id, this.#arena.append(id, entry))
    this.#names.add(hashEntry(entry), id)
    this.#hidden++
    prepared.end = id + 1
  }

  apply(changes: Uint8Array): void {
    this.#hasChanged = false
    const prepared = this.#prepared.shift()
    if (prepared !== undefined && prepared.changes !== changes)
      throw new Error('what was prepared is to be applied first')
    const from = prepared === undefined ? verifyChanges(changes) : this.#show(prepared)
    if (from < changes.length) {
      this.#staged.settleNow()
      readChanges(changes, from, this.#target)
    }
    if (this.#hasChanged) this.version++
  }

  settle(pace: Pace): Promise<void> {
    return this.#staged.settle(pace)
  }

  /** Has what was prepared be seen; gives the place of the first change that was not. */
  #show({ first, end, at }: Prepared): number {
    if (this.#staged.show()) this.#hasChanged = true
    this.nextId = end
    this.#ids.hiddenFrom = this.#prepared.length === 0 ? Number.POSITIVE_INFINITY : end
    for (let id = first; id < end; id++) {
      const address = this.#ids.get(id)
      if (address === 0) continue
      this.#hidden--
      this.texts.add(address)
    }
    return at
  }

  #put(id: number, entry: EntryView): void {
    const before = this.#ids.getAny(id)
    if (before !== 0) {
      if (this.#arena.view(before, this.#view).isSame(entry)) return
      // What is not in use is not moved with the rest of its chunk.
      this.#ids.set(id, 0)
      this.#giveUp(id, before)
    }
    const address = this.#arena.append(id, entry)
    this.#ids.set(id, address)
    this.#names.add(hashEntry(entry), id)
    this.texts.add(address)
    if (id >= this.nextId) this.nextId = id + 1
  }

  #remove(id: number): void {
    const before = this.#ids.get(id)
    // It was given once, even if nothing else is left of it.
    if (id >= this.nextId) this.nextId = id + 1
    if (before === 0) return
    this.#ids.set(id, 0)
    this.#giveUp(id, before)
  }

  #giveUp(id: number, address: Address): void {
    this.#hasChanged = true
    this.#names.remove(hashEntry(this.#arena.view(address, this.#view)), id)
    const sparse = this.#arena.giveUp(address, this.#view)
    if (sparse >= 0) this.texts.empty(sparse)
    this.texts.tellOrders()
  }
}

/** A record of which changes were made that are not shown yet. */
interface Prepared {
  readonly changes: Uint8Array
  /** Place of the first change that was not made. */
  at: number
  /** Ids of its new tags: [first, end). */
  readonly first: number
  end: number
}

class Entries implements TagEntries {
  readonly #catalog: MemoryCatalog
  readonly #arena: EntryArena
  readonly #ids: IdTable
  readonly #view = new EntryView()

  constructor(catalog: MemoryCatalog, arena: EntryArena, ids: IdTable) {
    this.#catalog = catalog
    this.#arena = arena
    this.#ids = ids
  }

  get nextId(): number {
    return this.#catalog.nextId
  }

  get bytes(): number {
    return this.#arena.liveBytes
  }

  each(from: number, count: number, take: (id: number, entry: Uint8Array) => void): number {
    const start = this.#ids.nextWithPage(from)
    const end = Math.min(start + count, this.#ids.end)
    for (let id = start; id < end; id++) {
      const address = this.#ids.get(id)
      if (address === 0) continue
      const { bytes, start: entryStart, end: entryEnd } = this.#arena.view(address, this.#view)
      take(id, bytes.subarray(entryStart, entryEnd))
    }
    return end
  }
}
