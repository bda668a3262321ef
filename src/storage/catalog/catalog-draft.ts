import { WideMap } from '../../scheduling/wide-map.ts'
import { Damage } from '../damage.ts'
import type { CatalogDraft, TagCatalog, TagFields } from './tag-catalog.ts'
import { ChangeWriter } from './tag-changes.ts'
import type { TagRecord } from './tag-record.ts'
import { MAX_TAG_ID } from './tag-record.ts'

/** What a draft works on. */
interface Base extends Pick<TagCatalog, 'find' | 'idOf' | 'get'> {
  readonly nextId: number
}

/** What a name has that will be no tag's, in place of an id. */
const FREE = 0

/**
 * Changes of tags that are being worked out: what they make of names, over a catalog that stays as it is, and their
 * bytes.
 */
export class MemoryDraft implements CatalogDraft {
  readonly #base: Base
  /**
   * Tags by name as they will be; of those that have another name and are otherwise what they were the id alone, as
   * records of very many would keep the garbage collector busy.
   */
  readonly #byName = new WideMap<TagRecord | number>()
  /** Tags that were made or changed here before their name was given up, by id. */
  readonly #freed = new Map<number, TagRecord>()
  readonly #writer = new ChangeWriter()
  #nextId: number

  constructor(base: Base) {
    this.#base = base
    this.#nextId = base.nextId
  }

  find(name: string): TagRecord | null {
    const own = this.#byName.get(name)
    if (own === undefined) return this.#base.find(name)
    return typeof own !== 'number' ? own : own === FREE ? null : { ...this.#base.get(own)!, name }
  }

  idOf(name: string): number {
    const own = this.#byName.get(name)
    if (own === undefined) return this.#base.idOf(name)
    return typeof own === 'number' ? own : own.id
  }

  create(fields: TagFields): TagRecord {
    if (this.#nextId > MAX_TAG_ID) throw new Damage('no ids are left for new tags')
    const record = { ...fields, id: this.#nextId++ }
    this.#put(record)
    return record
  }

  change(before: TagRecord, after: TagRecord): void {
    if (before.name !== after.name) this.#byName.set(before.name, FREE)
    this.#put(after)
  }

  remove({ id, name }: Pick<TagRecord, 'id' | 'name'>): void {
    this.#byName.set(name, FREE)
    this.#writer.remove(id)
  }

  free(name: string): void {
    const own = this.#byName.get(name)
    if (typeof own === 'object') this.#freed.set(own.id, own)
    this.#byName.set(name, FREE)
  }

  move(id: number, to: string): void {
    const own = this.#freed.get(id)
    if (own !== undefined) {
      this.#freed.delete(id)
      this.#put({ ...own, name: to })
      return
    }
    this.#byName.set(to, id)
    this.#writer.put(id, { ...this.#base.get(id)!, name: to })
  }

  #put(record: TagRecord): void {
    this.#byName.set(record.name, record)
    this.#writer.put(record.id, record)
  }

  take(): Uint8Array | null {
    return this.#writer.take()
  }
}
