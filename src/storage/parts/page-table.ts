import { Damage } from '../damage.ts'
import { addChecksum, aligned } from './page-checksum.ts'

/**
 * The table of pages: where the pages of small runs and those of the index are.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 x 3 | 0 |
 * | 4 | u32 | CRC-32 of the table with 0 in this place |
 * | 8 | u32 | s, number of pages of small runs |
 * | 12 | u32 | i, number of pages of the index |
 * | 16 | u32 x 3 x (s + i) | of each page its first tag, its place in units of 8 bytes, its bytes |
 * | | | zeros up to a multiple of 8 bytes |
 */
const VERSION = 1
const HEADER_BYTES = 16
const ENTRY_WORDS = 3

/** Place of a page in the file, in bytes. */
export interface PagePlace {
  readonly firstTag: number
  readonly at: number
  readonly bytes: number
}

/** Makes the table of pages. */
export class PageTableBuilder {
  readonly #small: number[] = []
  readonly #index: number[] = []

  addSmall({ firstTag, at, bytes }: PagePlace): void {
    this.#small.push(firstTag, at / 8, bytes)
  }

  addIndex({ firstTag, at, bytes }: PagePlace): void {
    this.#index.push(firstTag, at / 8, bytes)
  }

  /** The table, with its checksum. */
  finish(): Uint8Array<ArrayBuffer> {
    const words = this.#small.length + this.#index.length
    const page = new Uint8Array(aligned(HEADER_BYTES + 4 * words))
    const target = new Uint32Array(page.buffer)
    page[0] = VERSION
    target[2] = this.#small.length / ENTRY_WORDS
    target[3] = this.#index.length / ENTRY_WORDS
    target.set(this.#small, HEADER_BYTES >> 2)
    target.set(this.#index, (HEADER_BYTES >> 2) + this.#small.length)
    addChecksum(page)
    return page
  }
}

/** Pages of one kind, in the order of their tags. */
export class PageList {
  readonly count: number
  readonly #words: Uint32Array

  constructor(words: Uint32Array) {
    this.#words = words
    this.count = words.length / ENTRY_WORDS
    for (let i = 1; i < this.count; i++) {
      if (this.firstTag(i) <= this.firstTag(i - 1)) throw new Damage('a table of pages contradicts itself')
    }
  }

  firstTag(page: number): number {
    return this.#words[page * ENTRY_WORDS]!
  }

  at(page: number): number {
    return this.#words[page * ENTRY_WORDS + 1]! * 8
  }

  bytes(page: number): number {
    return this.#words[page * ENTRY_WORDS + 2]!
  }

  /** The page that a tag stands in, if it stands in any; -1 when all begin after it. */
  find(tag: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.firstTag(middle) <= tag) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** The table of pages of a part. */
export class PageTable {
  readonly small: PageList
  readonly index: PageList

  /** @param page  verified, in memory of its own. Throws Damage. */
  constructor(page: Uint8Array<ArrayBuffer>) {
    if (page.length < HEADER_BYTES || page.length % 8 !== 0 || page[0] !== VERSION) {
      throw new Damage('a table of pages is written in an unknown way')
    }
    const words = new Uint32Array(page.buffer, page.byteOffset, page.length >> 2)
    const from = HEADER_BYTES >> 2
    const middle = from + words[2]! * ENTRY_WORDS
    const end = middle + words[3]! * ENTRY_WORDS
    if (aligned(end * 4) !== page.length) throw new Damage('a table of pages does not fit its size')
    this.small = new PageList(words.subarray(from, middle))
    this.index = new PageList(words.subarray(middle, end))
  }
}
