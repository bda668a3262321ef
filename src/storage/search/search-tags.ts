import { type Address, idIn, seekIn } from '../catalog/entry-arena.ts'
import type { TagCatalog } from '../catalog/tag-catalog.ts'
import { EntryView } from '../catalog/tag-entry.ts'
import type { TagRecord } from '../catalog/tag-record.ts'
import { compareName, DESCRIPTION_BYTES, type OrderKind } from '../catalog/text-compare.ts'
import type { TextOrder } from '../catalog/text-order.ts'
import { placesOfBeginning } from './beginnings.ts'
import { caseVariants } from './case-variants.ts'
import { FirstInOrder } from './first-in-order.ts'
import { needleOf } from './needle.ts'
import type { Search, SearchPage } from './search.ts'
import type { SearchPace, SearchTags } from './tag-search.ts'
import { TextFilter } from './text-filter.ts'

/** When a search goes another way. */
export interface SearchLimits {
  /** So many descriptions with the same beginning are looked at; with more, the search is one for any text. */
  readonly descriptions: number
  /** So many tags are looked at in the order of their names to find out how many of them match. */
  readonly sample: number
}

const LIMITS: SearchLimits = { descriptions: 100_000, sample: 2_048 }
/** A tag in the order of names costs as much as some in the order of memory. */
const ORDER_COST = 4
/** A chunk without anything to be found takes about a millisecond. */
const STEPS_OF_CHUNK = 8
/** Descriptions that are collected between two looks at the clock, in some 100 microseconds. */
const DESCRIPTIONS_OF_LOOK = 512
const STEPS_OF_LOOK = 16
/** How often they are collected: the last time without letting others in, who change the order each time. */
const COLLECTIONS = 4
/** Characters of a beginning that are looked up; a character takes at most 4 bytes. */
const MOST_CHARACTERS = DESCRIPTION_BYTES / 4 - 1

export const searchTags = searchWith(LIMITS)

export function searchWith(limits: SearchLimits): SearchTags {
  return (catalog, search, pace) => new Scan(catalog, search, pace, limits).run()
}

class Scan {
  readonly #catalog: TagCatalog
  readonly #search: Search
  readonly #pace: SearchPace
  readonly #limits: SearchLimits
  readonly #filter: TextFilter
  readonly #found: FirstInOrder
  readonly #view = new EntryView()
  readonly #after: { readonly text: string; readonly utf8: Uint8Array } | null

  constructor(catalog: TagCatalog, search: Search, pace: SearchPace, limits: SearchLimits) {
    this.#limits = limits
    this.#catalog = catalog
    this.#search = search
    this.#pace = pace
    this.#filter = new TextFilter(search.foldedPattern ?? '*')
    this.#found = new FirstInOrder(search.limit + 1)
    const { after } = search
    this.#after = after === null ? null : { text: after, utf8: Buffer.from(after) }
  }

  async run(): Promise<SearchPage> {
    const { matches, foldedPrefix, after } = this.#search
    const wanted = this.#search.limit + 1
    if (matches === null) return this.#page((await this.#walk(after, wanted, Number.POSITIVE_INFINITY))!)
    const beginning = [...foldedPrefix].slice(0, MOST_CHARACTERS).join('')
    if (beginning !== '') {
      // The first call makes what it looks up, which takes a turn of the event loop.
      caseVariants(beginning)
      if (this.#pace.isDue(STEPS_OF_LOOK)) await this.#pace.pause()
      const tags = await this.#withBeginning(beginning)
      if (tags !== null) return this.#page(tags)
    }
    const tags = await this.#walk(after, wanted, this.#catalog.size / ORDER_COST)
    if (tags !== null) return this.#page(tags)
    await this.#scanAll()
    return this.#page(await this.#found.inOrder(this.#pace))
  }

  #page(tags: readonly TagRecord[]): SearchPage {
    const { limit } = this.#search
    return { tags: tags.slice(0, limit), more: tags.length > limit }
  }

  /** The record of the tag in view, if it is one that is looked for. */
  #match(id: number): TagRecord | null {
    const { matches } = this.#search
    if (matches === null) return this.#view.record(id)
    if (!this.#filter.mayMatch(this.#view)) return null
    const record = this.#view.record(id)
    return matches(record.name, record.description) ? record : null
  }

  /**
   * Looks at tags in the order of their names, until there are enough.
   * @param most  is given up when it comes out that more are to be looked at for that
   * @returns     `null` when it was given up
   */
  async #walk(after: string | null, wanted: number, most: number): Promise<readonly TagRecord[] | null> {
    const tags: TagRecord[] = []
    let last = after
    let order = await this.#order('name')
    let at = last === null ? 0 : order.afterName(last)
    for (let looked = 1; at < order.sorted.length; looked++) {
      const id = this.#look(order.sorted[at++]!)
      const record = id === 0 ? null : this.#match(id)
      if (record !== null) tags.push(record)
      if (tags.length === wanted) break
      if (looked % this.#limits.sample === 0 && (looked / tags.length) * wanted > most) return null
      if (id === 0 || !this.#pace.isDue()) continue
      last = this.#view.nameText()
      await this.#pace.pause()
      // Places may be others now.
      order = await this.#order('name')
      at = order.afterName(last)
    }
    return tags
  }

  /** Looks at the tag with an entry; gives its id, 0 when the entry is not that of a tag any more. */
  #look(address: number): number {
    const { texts } = this.#catalog
    const id = texts.idAt(address)
    if (id !== 0) texts.look(id, this.#view)
    return id
  }

  /** Those whose name or description begins so; `null` when too many descriptions do. */
  async #withBeginning(beginning: string): Promise<readonly TagRecord[] | null> {
    const ids = await this.#descriptions(beginning)
    if (ids === null) return null
    // Descriptions are in an order of their own, so that all have to be looked at.
    if (ids.length > this.#limits.sample) {
      const tags = await this.#walk(this.#search.after, this.#search.limit + 1, ids.length)
      if (tags !== null) return tags
    }
    for (const id of ids) {
      if (this.#catalog.texts.look(id, this.#view) && this.#filter.mayMatch(this.#view)) this.#consider(id)
      if (this.#found.isFull) await this.#found.trim(this.#pace)
      if (this.#pace.isDue()) await this.#pace.pause()
    }
    await this.#names(beginning)
    return this.#found.inOrder(this.#pace)
  }

  async #descriptions(beginning: string): Promise<readonly number[] | null> {
    for (let triesLeft = COLLECTIONS - 1; ; triesLeft--) {
      const ids = await this.#collectDescriptions(beginning, triesLeft > 0)
      if (ids !== 'again') return ids
    }
  }

  /**
   * @param mayPause  whether others are let in: then it is to be begun again where the order is another one afterwards,
   *                  or some of its entries have moved
   */
  async #collectDescriptions(
    beginning: string,
    mayPause: boolean,
  ): Promise<readonly number[] | null | 'again'> {
    const { texts } = this.#catalog
    const order = await this.#order('description')
    const { version } = order
    const ids: number[] = []
    for (const [from, to] of placesOfBeginning(order, beginning)) {
      if (ids.length + to - from > this.#limits.descriptions) return null
      for (let at = from; at < to; at++) {
        const id = texts.idAt(order.sorted[at]!)
        if (id !== 0) ids.push(id)
        if (at % DESCRIPTIONS_OF_LOOK !== 0 || !mayPause || !this.#pace.isDue(STEPS_OF_LOOK)) continue
        await this.#pace.pause()
        if (texts.order('description') !== order || order.version !== version) return 'again'
      }
    }
    return ids
  }

  /** They come in the order of names, until there are enough. */
  async #names(beginning: string): Promise<void> {
    let last = this.#search.after
    let count = 0
    let addresses = addressesOf(await this.#order('name'), beginning, last)
    for (let next = addresses.next(); next.done !== true; next = addresses.next()) {
      const id = this.#look(next.value)
      if (id === 0) continue
      const record = this.#match(id)
      if (record !== null) this.#found.add(record)
      if (record !== null && ++count > this.#search.limit) return
      const { isFull } = this.#found
      if (!isFull && !this.#pace.isDue()) continue
      last = this.#view.nameText()
      if (isFull) await this.#found.trim(this.#pace)
      else await this.#pace.pause()
      addresses = addressesOf(await this.#order('name'), beginning, last)
    }
  }

  /**
   * Looks at the texts of all tags as they lie in memory, those with a needle alone if there is one. What an entry is
   * found in is what its tag was called when this began: the tag is looked at as it is now.
   */
  async #scanAll(): Promise<void> {
    const { texts } = this.#catalog
    const needle = needleOf(this.#search.foldedPattern ?? '*', this.#filter.longest)
    for (const chunk of texts.read()) {
      for (let at = 0; at < chunk.bytes.length; ) {
        const place = needle === null || chunk.hasOpaque ? at : needle.next(chunk.bytes, at)
        if (place < 0) break
        let next = seekIn(chunk, at, this.#view)
        while (next <= place) {
          at = next
          next = seekIn(chunk, at, this.#view)
        }
        const id = idIn(chunk, at)
        if (this.#filter.mayMatch(this.#view) && texts.look(id, this.#view)) this.#consider(id)
        at = next
        if (this.#found.isFull) await this.#found.trim(this.#pace)
        if (this.#pace.isDue()) await this.#pace.pause()
      }
      for (let i = 0; i < STEPS_OF_CHUNK; i++) if (this.#pace.isDue()) await this.#pace.pause()
    }
  }

  /** Takes the tag in view if it is one that is looked for. */
  #consider(id: number): void {
    const view = this.#view
    if ((this.#after !== null && compareName(view, this.#after) <= 0) || !this.#found.wants(view)) return
    const record = view.record(id)
    if (this.#search.matches?.(record.name, record.description) ?? true) this.#found.add(record)
  }

  /** An order that is up to date. */
  async #order(kind: OrderKind): Promise<TextOrder> {
    for (;;) {
      const order = this.#catalog.texts.order(kind)
      if (order.step()) return order
      if (this.#pace.isDue()) await this.#pace.pause()
    }
  }
}

/** Entries whose names begin so and come after one, in the order of names. */
function* addressesOf(order: TextOrder, beginning: string, after: string | null): Generator<Address, void> {
  const start = after === null ? 0 : order.afterName(after)
  for (const [from, to] of placesOfBeginning(order, beginning)) {
    for (let at = Math.max(from, start); at < to; at++) yield order.sorted[at]!
  }
}
