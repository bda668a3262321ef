import { WideMap } from '../../scheduling/wide-map.ts'
import { Damage } from '../damage.ts'
import type { CatalogDraft, TagCatalog, TagFields } from './tag-catalog.ts'
import { ChangeWriter } from './tag-changes.ts'
import type { TagRecord } from './tag-record.ts'
import { MAX_TAG_ID } from './tag-record.ts'

/** What a draft works on. */
interface Base extends Pick<TagCatalog, 'find' | 'idOf'> {
  readonly nextId: number
}

/** What a name has that will be no tag's. */
const FREE = 0

/**
 * Changes of tags that are being worked out: what they make of names, over a catalog that stays as it is, and their
 * bytes.
 */
export class MemoryDraft implements CatalogDraft {
  readonly #base: Base
  /** Tags by name as they will be. */
  readonly #byName = new WideMap<TagRecord | typeof FREE>()
  readonly #writer = new ChangeWriter()
  #nextId: number

  constructor(base: Base) {
    this.#base = base
    this.#nextId = base.nextId
  }

  find(name: string): TagRecord | null {
    const own = this.#byName.get(name)
    return own === undefined ? this.#base.find(name) : own === FREE ? null : own
  }

  idOf(name: string): number {
    const own = this.#byName.get(name)
    return own === undefined ? this.#base.idOf(name) : own === FREE ? 0 : own.id
  }

  create(fields: TagFields): TagRecord {
    if (this.#nextId > MAX_TAG_ID) throw new Damage('no ids are left for new tags')
    const record = { ...fields, id: this.#nextId++ }
    this.put(record)
    return record
  }

  change(before: TagRecord, after: TagRecord): void {
    if (before.name !== after.name) this.#byName.set(before.name, FREE)
    this.put(after)
  }

  remove({ id, name }: Pick<TagRecord, 'id' | 'name'>): void {
    this.#byName.set(name, FREE)
    this.#writer.remove(id)
  }

  free({ name }: TagRecord): void {
    this.#byName.set(name, FREE)
  }

  put(record: TagRecord): void {
    this.#byName.set(record.name, record)
    this.#writer.put(record.id, record)
  }

  take(): Uint8Array | null {
    return this.#writer.take()
  }
}
