import type { Tombstone } from '../parts/part.ts'
import { TombstoneBuilder } from '../parts/tombstone-columns.ts'
import { TombstonesOfTags } from '../parts/tombstones-of-tags.ts'

/** Entries of a page of the index by tag. */
const PAGE_TAGS = 4_096
const NONE: readonly Tombstone[] = []

/** The tombstones of a generation by tag: in columns, as one request may bring one for each of very many tags. */
export class TombstoneLog implements Iterable<Tombstone> {
  /** In the order in which they came. */
  readonly #all = new TombstoneBuilder()
  /** Of each one the place behind that of the one before it of the same tag; 0 for the first. */
  #previous = new Uint32Array(0)
  /** The same of the last one of a tag, in pages by id of the tag. */
  readonly #last: (Uint32Array | undefined)[] = []
  #pages = 0
  readonly #ofTags = new TombstonesOfTags()

  get length(): number {
    return this.#all.length
  }

  /** Bytes of memory that they take. */
  get bytes(): number {
    return this.length === 0 ? 0 : this.#all.bytes + this.#previous.byteLength + 4 * PAGE_TAGS * this.#pages
  }

  add(tag: number, from: number, to: number, sequence: number): void {
    const place = this.length
    if (place === this.#previous.length) this.#grow()
    this.#all.add(tag, from, to, sequence)
    this.#ofTags.forget(tag)
    const number = Math.floor(tag / PAGE_TAGS)
    let page = this.#last[number]
    if (page === undefined) {
      page = new Uint32Array(PAGE_TAGS)
      this.#last[number] = page
      this.#pages++
    }
    this.#previous[place] = page[tag % PAGE_TAGS]!
    page[tag % PAGE_TAGS] = place + 1
  }

  /** Those of a tag, in the order in which they came; stay as they are when more come. */
  of(tag: number): readonly Tombstone[] {
    return this.length === 0 ? NONE : this.#ofTags.of(tag, this.#collect)
  }

  readonly #collect = (tag: number): readonly Tombstone[] => {
    let behind = this.#last[Math.floor(tag / PAGE_TAGS)]?.[tag % PAGE_TAGS] ?? 0
    if (behind === 0) return NONE
    const found: Tombstone[] = []
    for (; behind !== 0; behind = this.#previous[behind - 1]!) found.push(this.#all.at(behind - 1))
    return found.reverse()
  };

  /** By tag, and of each tag in the order in which they came: as they stand in a part, so that nothing sorts them. */
  *[Symbol.iterator](): Generator<Tombstone, void> {
    for (let number = 0; number < this.#last.length; number++) {
      const page = this.#last[number]
      if (page === undefined) continue
      for (let i = 0; i < PAGE_TAGS; i++) if (page[i] !== 0) yield* this.#collect(number * PAGE_TAGS + i)
    }
  }

  #grow(): void {
    const capacity = Math.max(16, 2 * this.length)
    this.#previous = new Uint32Array(this.#previous.buffer.transfer(4 * capacity))
  }
}
