import { hash } from 'node:crypto'
import { MAX_TAG_ID } from './block-key.ts'
import type { Changes } from './changes.ts'
import { Damage } from './damage.ts'
import type { Bytes, Meta, ReadOptions, Store } from './environment.ts'
import { Generations } from './generations.ts'
import { META } from './names.ts'
import { searchKeys } from './search-keys.ts'
import { TagLists } from './tag-lists.ts'
import { decodeTagRecord, encodeTagRecord, type TagRecord } from './tag-record.ts'

/** The databases of a historian that hold its tags. */
export interface CatalogStores {
  readonly meta: Meta
  /** Tag id → record. */
  readonly tags: Store
  /** First 16 bytes of the SHA-256 of the name → tag id. */
  readonly names: Store
  /** See search-keys.ts. */
  readonly search: Store
  /** The store behind `meta`, for changes. */
  readonly metaStore: Store
}

/** Tags remembered: some 10 to 20 MB at the most. */
const REMEMBERED_TAGS = 30_000
/** Records with longer descriptions are not remembered, which bounds the memory. */
const REMEMBERED_TEXT = 1_000

/** The tags of a historian by name and id, in their newest state. */
export class Catalog {
  readonly stores: CatalogStores
  readonly #remembered = new Generations<string, TagRecord>(REMEMBERED_TAGS)
  readonly #lists = new TagLists()
  #generation = -1
  #version = 0
  /**
   * Set while a change is being committed: a read can see it before this process hears that it is done, and what is remembered of
   * tags, here and of their newest points, must not stand beside it.
   */
  isChanging = false

  constructor(stores: CatalogStores) {
    this.stores = stores
  }

  /** Another number after every change of tags that was seen; what is remembered belongs to the newest one. */
  get version(): number {
    return this.#version
  }

  /**
   * Forgets everything when another process changed tags meanwhile. Called before each group of `find`: it costs as much as
   * finding one tag.
   */
  refresh(): void {
    const generation = this.stores.meta.getNumber(META.generation)
    if (generation === this.#generation) return
    this.#remembered.clear()
    this.#version++
    this.#generation = generation
  }

  /**
   * `null` when there is no such tag. Throws Damage.
   * @param options  of a read that has let others in
   * @param version  the one at the beginning of that read
   */
  find(name: string, options?: ReadOptions, version = this.#version): TagRecord | null {
    const isNewest = version === this.#version && !this.isChanging
    const remembered = isNewest ? this.#remembered.get(name) : undefined
    if (remembered !== undefined) return remembered
    const bytes = this.stores.names.get(nameKey(name), options)
    if (bytes === undefined) return null
    const record = this.findById(readId(bytes), options)
    if (record === null) throw new Damage('the record of a tag is missing')
    // Either two names have the same digest, which nobody will ever see, or a text that is no Unicode was asked for.
    if (record.name !== name) return null
    if (isNewest && (record.description?.length ?? 0) <= REMEMBERED_TEXT) this.#remembered.set(name, record)
    return record
  }

  /** Ids of a list of tags that all exist, when the same array was remembered and no tag changed since; `null` otherwise. */
  findList(names: readonly string[]): Uint32Array | null {
    return this.isChanging ? null : this.#lists.find(names, this.#version)
  }

  /** Remembers the ids of tags that were just found; neither array is changed any more. */
  rememberList(names: readonly string[], ids: Uint32Array): void {
    if (!this.isChanging) this.#lists.remember(names, ids, this.#version)
  }

  /** `null` when there is no such tag. Throws Damage. */
  findById(id: number, options?: ReadOptions): TagRecord | null {
    const bytes = this.stores.tags.get(idKey(id), options)
    return bytes === undefined ? null : decodeTagRecord(id, bytes)
  }

  /** To be called when a change of these tags was committed, or may have been. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.#remembered.delete(name)
    this.#version++
    // One step is our own change, which is no reason to forget the rest.
    const generation = this.stores.meta.getNumber(META.generation)
    if (generation === this.#generation + 1) this.#generation = generation
  }
}

/** `null` when there is no such tag. */
export type FindTag = (name: string) => TagRecord | null

/** Ids of those tags that exist, each tag once. */
export function idsOf(names: readonly string[], find: FindTag): number[] {
  return [...new Set(names)].flatMap((name) => find(name)?.id ?? [])
}

/** Changes of tags that are being worked out, seen as if they were done already. */
export class CatalogDraft {
  readonly #catalog: Catalog
  /** Tags by name as they will be; `null` for names that will be free. */
  readonly #byName = new Map<string, TagRecord | null>()
  readonly #before = new Map<number, TagRecord | null>()
  readonly #after = new Map<number, TagRecord | null>()
  #nextId: number | null = null

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Names that were changed, for Catalog.forget. */
  get names(): Iterable<string> {
    return this.#byName.keys()
  }

  get isEmpty(): boolean {
    return this.#after.size === 0
  }

  find(name: string): TagRecord | null {
    const drafted = this.#byName.get(name)
    return drafted === undefined ? this.#catalog.find(name) : drafted
  }

  /** As Catalog.findList; `null` when this draft changes any tag. */
  findList(names: readonly string[]): Uint32Array | null {
    return this.#byName.size === 0 ? this.#catalog.findList(names) : null
  }

  /** As Catalog.rememberList, unless this draft changes any tag. */
  rememberList(names: readonly string[], ids: Uint32Array): void {
    if (this.#byName.size === 0) this.#catalog.rememberList(names, ids)
  }

  /** Whether the tag with this id is made by this draft. */
  isNew(id: number): boolean {
    return this.#before.get(id) === null
  }

  /** Makes a tag under a name that is free. Throws Damage when the ids are used up. */
  create(tag: Omit<TagRecord, 'id'>): TagRecord {
    this.#nextId ??= Math.max(1, this.#catalog.stores.meta.getNumber(META.nextTag))
    if (this.#nextId > MAX_TAG_ID) throw new Damage('no ids are left for new tags')
    const record = { ...tag, id: this.#nextId++ }
    this.#before.set(record.id, null)
    this.#after.set(record.id, record)
    this.#byName.set(record.name, record)
    return record
  }

  /** Replaces what is stored of a tag; also its name, when nothing else has the new one. */
  change(before: TagRecord, after: TagRecord): void {
    this.#touch(before)
    this.#after.set(before.id, after)
    if (before.name !== after.name && this.#byName.get(before.name)?.id === before.id) {
      this.#byName.set(before.name, null)
    }
    this.#byName.set(after.name, after)
  }

  remove(record: TagRecord): void {
    this.#touch(record)
    this.#after.set(record.id, null)
    this.#byName.set(record.name, null)
  }

  /** Gives a number of tags new names at once, which may be names that others of them give up. */
  rename(renames: readonly { readonly record: TagRecord; readonly to: string }[]): void {
    for (const { record } of renames) {
      this.#touch(record)
      this.#byName.set(record.name, null)
    }
    for (const { record, to } of renames) {
      const renamed = { ...record, name: to }
      this.#after.set(record.id, renamed)
      this.#byName.set(to, renamed)
    }
  }

  /** Adds what is to be put and removed. */
  addTo(changes: Changes): void {
    if (this.isEmpty) return
    const { tags, names, search, meta, metaStore } = this.#catalog.stores
    for (const before of this.#before.values()) {
      if (before === null) continue
      const after = this.#after.get(before.id)
      if (after?.name !== before.name) changes.remove(names, nameKey(before.name))
      const kept = new Set((after === null ? [] : searchKeys(after!)).map((key) => key.toString('latin1')))
      for (const key of searchKeys(before)) {
        if (!kept.has(key.toString('latin1'))) changes.remove(search, key)
      }
      if (after === null) changes.remove(tags, idKey(before.id))
    }
    for (const [id, after] of this.#after) {
      if (after === null) continue
      changes.put(tags, idKey(id), encodeTagRecord(after))
      if (this.#before.get(id)?.name !== after.name) changes.put(names, nameKey(after.name), writeId(id))
      for (const key of searchKeys(after)) changes.put(search, key, SEARCH_VALUE)
    }
    if (this.#nextId !== null) putMeta(changes, metaStore, META.nextTag, this.#nextId)
    putMeta(changes, metaStore, META.generation, meta.getNumber(META.generation) + 1)
  }

  #touch(record: TagRecord): void {
    if (!this.#before.has(record.id)) this.#before.set(record.id, record)
  }
}

/** lmdb wants a value; the key says all. */
const SEARCH_VALUE = Buffer.from([1])

function putMeta(changes: Changes, store: Store, name: string, value: number): void {
  changes.put(store, Buffer.from(name), Buffer.from(JSON.stringify(value)))
}

/** Key of a name in `names`. */
export function nameKey(name: string): Buffer {
  return hash('sha256', name, 'buffer').subarray(0, 16)
}

/** Key of an id in `tags`. */
export function idKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(id)
  return key
}

export function writeId(id: number): Buffer {
  return idKey(id)
}

/** Throws Damage when the bytes are no id. */
export function readId(bytes: Bytes): number {
  if (bytes.length !== 4) throw new Damage('an entry of the index of names is wrong')
  return Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32BE()
}
