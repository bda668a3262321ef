import type { Address, ReadChunk } from './entry-arena.ts'
import type { EntryView, TagFields } from './tag-entry.ts'
import type { TagRecord } from './tag-record.ts'
import type { OrderKind } from './text-compare.ts'
import type { TextOrder } from './text-order.ts'

/** A tag's metadata as it is stored. */
export type { TagFields } from './tag-entry.ts'

/** Where the durable catalog is, as the manifest has it: a file in `catalog/` of which so many bytes count. */
export interface CatalogRef {
  readonly name: string
  readonly bytes: number
}

/**
 * All tags in memory, by name and by id: at most 100 bytes a tag beside the text. It is what the WAL records said up to
 * now, and is changed only by `apply`, by owner and readers alike. Ids begin at 1 and are never used again, whatever
 * becomes of the tag.
 */
export interface TagCatalog {
  readonly size: number
  /** Grows with every `apply` that changed or removed a tag, or gave it another name; not when tags were only added. */
  readonly version: number
  find(name: string): TagRecord | null
  /** Id of a tag; 0 for one that does not exist. Without making a record. */
  idOf(name: string): number
  get(id: number): TagRecord | null
  /** Ids of a list of names that comes again as the same array, when all exist; `null` otherwise. Not to be changed. */
  findList(names: readonly string[]): Uint32Array | null
  /** Begins to work changes out. One draft at a time; it sees its own changes, the catalog does not. */
  draft(): CatalogDraft
  /**
   * Does in slices what `apply` of a committed record does, which nobody sees before that: some hundred thousand tags
   * then hold nobody up. It may be left out, and is for records in their order, all of which are applied next; of those
   * after the first one only new tags are prepared. Throws Damage, before anything is done, and what `pause` throws,
   * after which `apply` is to be called.
   */
  prepare(changes: Uint8Array, pace: Pace): Promise<void>
  /**
   * Makes the changes of a committed record its own, in the order of the records. Throws Damage when they cannot be
   * read.
   */
  apply(changes: Uint8Array): void
  /**
   * Gives up in slices what was before the changes that were prepared and applied: no change is seen by it, and what is
   * left of it is done at once by the next change. Throws what `pause` throws.
   */
  settle(pace: Pace): Promise<void>
  /** What a search scans. */
  readonly texts: TagTexts
  /** What a file of it holds. */
  readonly entries: TagEntries
}

/** Tells long work when to yield to the event loop. */
export interface Pace {
  isDue(): boolean
  pause(): Promise<void>
}

/** All tags as bytes (tag-entry.ts), for who writes them to a file. */
export interface TagEntries {
  /** Id of the next new tag; all others are below it. */
  readonly nextId: number
  /** Of all tags. */
  readonly bytes: number
  /**
   * Calls with those of `count` ids, from one on; long runs of ids that are not in use are passed over.
   * @param take  is lent the entry
   * @returns     the id to go on with; not above `nextId`
   */
  each(from: number, count: number, take: (id: number, entry: Uint8Array) => void): number
}

/** Changes that are being worked out on the newest state, for a group of records. */
export interface CatalogDraft {
  find(name: string): TagRecord | null
  idOf(name: string): number
  /** Makes a tag with the next free id. */
  create(fields: TagFields): TagRecord
  /** New metadata of a tag under its name. */
  change(before: TagRecord, after: TagRecord): void
  remove(tag: Pick<TagRecord, 'id' | 'name'>): void
  /** Gives up the name of a tag, which gets another one by `move`. */
  free(name: string): void
  /** The new name of a tag whose name was given up. The caller has checked that it is free. */
  move(id: number, to: string): void
  /** The changes since the last call as bytes for a WAL record; `null` for none. Taking them does not end the draft. */
  take(): Uint8Array | null
}

/**
 * The texts of all tags as a search wants them; src/storage/search alone reads them. All of it is asked for anew after
 * it yielded to the event loop: addresses and orders are of this moment, ids are for ever.
 */
export interface TagTexts {
  /** Tags. */
  readonly size: number
  /** Has a view look at the entry of a tag; false when there is none with the id. */
  look(id: number, view: EntryView): boolean
  /** Id of the tag with the entry at an address; 0 when it has another one now. */
  idAt(address: Address): number
  /** All entries as they lie in memory now, those that were given up too; they stay what they are. */
  read(): readonly ReadChunk[]
  /** The order of a text, which may have to be brought up to date. Made when it is asked for first. */
  order(kind: OrderKind): TextOrder
}

/** Reads and writes the catalog's files. */
export interface CatalogStore {
  /** The catalog of a manifest; an empty one for `null`. Throws Damage. */
  load(ref: CatalogRef | null): Promise<TagCatalog>
  /**
   * Makes changes durable that are in `catalog` already: those of the WAL records since the last call, in order.
   * Appends and syncs, or, when the file holds more of the past than of the present, writes a new one.
   * @returns what the next manifest has to say
   */
  append(catalog: TagCatalog, changes: readonly Uint8Array[], ref: CatalogRef | null): Promise<CatalogRef>
  /**
   * Up to where a file can be read, the end of a block or of its header, and how many of the bytes follow that count,
   * which are all for Infinity. Throws Damage for one that is missing.
   */
  intactBytes(ref: CatalogRef): Promise<{ readonly bytes: number; readonly left: number }>
  /** Verifies the file. Gives what is wrong, one sentence each. */
  check(ref: CatalogRef): Promise<readonly string[]>
  close(): void
}
