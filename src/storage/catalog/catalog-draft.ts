import { Damage } from '../damage.ts'
import type { CatalogDraft, TagCatalog, TagFields } from './tag-catalog.ts'
import { ChangeWriter } from './tag-changes.ts'
import type { TagRecord } from './tag-record.ts'
import { MAX_TAG_ID } from './tag-record.ts'

/** What a draft works on. */
interface Base extends Pick<TagCatalog, 'find' | 'idOf'> {
  readonly nextId: number
}

/**
 * Changes of tags that are being worked out: what they make of names, over a catalog that stays as it is, and their
 * bytes.
 */
export class MemoryDraft implements CatalogDraft {
  readonly #base: Base
  /** Tags by name as they will be; `null` for names that will be free. */
  readonly #byName = new Map<string, TagRecord | null>()
  readonly #writer = new ChangeWriter()
  #nextId: number

  constructor(base: Base) {
    this.#base = base
    this.#nextId = base.nextId
  }

  find(name: string): TagRecord | null {
    const own = this.#byName.get(name)
    return own === undefined ? this.#base.find(name) : own
  }

  idOf(name: string): number {
    const own = this.#byName.get(name)
    return own === undefined ? this.#base.idOf(name) : (own?.id ?? 0)
  }

  create(fields: TagFields): TagRecord {
    if (this.#nextId > MAX_TAG_ID) throw new Damage('no ids are left for new tags')
    const record = { ...fields, id: this.#nextId++ }
    this.put(record)
    return record
  }

  change(before: TagRecord, after: TagRecord): void {
    if (before.name !== after.name) this.#byName.set(before.name, null)
    this.put(after)
  }

  remove({ id, name }: TagRecord): void {
    this.#byName.set(name, null)
    this.#writer.remove(id)
  }

  free({ name }: TagRecord): void {
    this.#byName.set(name, null)
  }

  put(record: TagRecord): void {
    this.#byName.set(record.name, record)
    this.#writer.put(record.id, record)
  }

  take(): Uint8Array | null {
    return this.#writer.take()
  }
}
