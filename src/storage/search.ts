import { compareNames } from '../series/tag-names.ts'
import type { Catalog } from './catalog.ts'
import type { ReadOptions } from './environment.ts'
import { SEARCH_KINDS, SEARCH_PREFIX_BYTES } from './names.ts'
import { idOfSearchKey, prefixOfSearchKey, searchKey, searchPrefix } from './search-keys.ts'
import type { Snapshot } from './snapshot.ts'
import { decodeTagRecord, type TagRecord } from './tag-record.ts'

export interface Search {
  /** Whether a tag is wanted; `null` for all. */
  readonly matches: ((name: string, description: string | null) => boolean) | null
  /** Case-folded beginning that the name or the description of every match has; '' where none is known. */
  readonly foldedPrefix: string
  /** Only names after this one. */
  readonly after: string | null
  readonly limit: number
}

export interface SearchPage {
  readonly tags: readonly TagRecord[]
  readonly more: boolean
}

/** A beginning that more tags have is no better than looking at all of them in name order until the page is full. */
const MAX_CANDIDATES = 20_000

/** A page of the tags that match, in name order. Throws Damage. */
export async function searchTags(catalog: Catalog, search: Search, snapshot: Snapshot): Promise<SearchPage> {
  if (search.matches !== null && search.foldedPrefix !== '') {
    const ids = await candidates(catalog, search.foldedPrefix, snapshot)
    if (ids !== null) return fromCandidates(catalog, ids, search, snapshot)
  }
  return inNameOrder(catalog, search, snapshot)
}

/** Ids of the tags with a name or description of this beginning; `null` when there are too many. */
async function candidates(
  catalog: Catalog,
  foldedPrefix: string,
  snapshot: Snapshot,
): Promise<Set<number> | null> {
  const ids = new Set<number>()
  const prefix = searchPrefix(foldedPrefix)
  for (const kind of [SEARCH_KINDS.foldedName, SEARCH_KINDS.foldedDescription]) {
    const start = Buffer.concat([Buffer.of(kind), prefix])
    // No UTF-8 text has the byte 0xff, so this sorts after every text that begins so.
    const end = Buffer.concat([start, Buffer.of(0xff)])
    for (const key of catalog.stores.search.getKeys({ start, end, ...snapshot.options })) {
      ids.add(idOfSearchKey(key as Uint8Array))
      if (ids.size > MAX_CANDIDATES) return null
    }
    if (snapshot.isDue()) await snapshot.rest()
  }
  return ids
}

async function fromCandidates(
  catalog: Catalog,
  ids: Iterable<number>,
  search: Search,
  snapshot: Snapshot,
): Promise<SearchPage> {
  const found = new FirstInOrder(search.limit + 1)
  for (const id of ids) {
    const record = read(catalog, id, snapshot.options)
    if (record !== null && isWanted(record, search)) found.add(record)
    if (snapshot.isDue()) await snapshot.rest()
  }
  const tags = found.inOrder()
  return { tags: tags.slice(0, search.limit), more: tags.length > search.limit }
}

/** Steps of the walk between two rests at least: a cursor is only kept within one turn of the event loop. */
const STRETCH = 256

async function inNameOrder(catalog: Catalog, search: Search, snapshot: Snapshot): Promise<SearchPage> {
  const tags: TagRecord[] = []
  const wanted = search.limit + 1
  let start = startOf(search.after)
  for (;;) {
    const stretch = nextStretch(catalog, start, snapshot.options)
    for (const group of stretch.groups) {
      const found = await readGroup(catalog, group, search, wanted - tags.length, snapshot)
      tags.push(...found)
      if (tags.length >= wanted) return { tags: tags.slice(0, search.limit), more: true }
    }
    if (stretch.next === null) return { tags, more: false }
    start = stretch.next
    if (snapshot.isDue()) await snapshot.rest()
  }
}

/** Where the names after this one begin: at the first name that has the same beginning as far as keys tell. */
function startOf(after: string | null): Buffer {
  if (after === null) return Buffer.of(SEARCH_KINDS.name)
  return searchKey(SEARCH_KINDS.name, after, 0)
}

/**
 * The next tags in the order of the keys, in groups of those whose keys tell nothing about their order: names with the same
 * first SEARCH_PREFIX_BYTES bytes. Most groups are of one tag.
 */
function nextStretch(
  catalog: Catalog,
  start: Buffer,
  options: ReadOptions | undefined,
): { readonly groups: readonly (readonly number[])[]; readonly next: Buffer | null } {
  const groups: number[][] = []
  let last: Uint8Array | null = null
  const end = Buffer.of(SEARCH_KINDS.name + 1)
  for (const entry of catalog.stores.search.getKeys({ start, end, ...options })) {
    const key = entry as Uint8Array
    const prefix = prefixOfSearchKey(key)
    const isSame =
      last !== null && prefix.length === SEARCH_PREFIX_BYTES && Buffer.compare(prefix, last) === 0
    if (isSame) groups.at(-1)!.push(idOfSearchKey(key))
    else {
      if (groups.length === STRETCH) return { groups, next: Buffer.from(key) }
      groups.push([idOfSearchKey(key)])
      last = prefix
    }
  }
  return { groups, next: null }
}

async function readGroup(
  catalog: Catalog,
  group: readonly number[],
  search: Search,
  limit: number,
  snapshot: Snapshot,
): Promise<readonly TagRecord[]> {
  const found = new FirstInOrder(limit)
  for (const id of group) {
    const record = read(catalog, id, snapshot.options)
    if (record !== null && isWanted(record, search)) found.add(record)
    if (snapshot.isDue()) await snapshot.rest()
  }
  return found.inOrder()
}

function read(catalog: Catalog, id: number, options: ReadOptions | undefined): TagRecord | null {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(id)
  const bytes = catalog.stores.tags.get(key, options)
  return bytes === undefined ? null : decodeTagRecord(id, bytes, false)
}

function isWanted({ name, description }: TagRecord, { matches, after }: Search): boolean {
  if (after !== null && compareNames(name, after) <= 0) return false
  return matches === null || matches(name, description)
}

/** Keeps the first so many records in name order, in memory for twice as many. */
class FirstInOrder {
  readonly #limit: number
  #records: TagRecord[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add(record: TagRecord): void {
    this.#records.push(record)
    if (this.#records.length >= 2 * this.#limit + 64) this.#trim()
  }

  inOrder(): readonly TagRecord[] {
    this.#trim()
    return this.#records
  }

  #trim(): void {
    this.#records.sort((a, b) => compareNames(a.name, b.name))
    this.#records = this.#records.slice(0, this.#limit)
  }
}
