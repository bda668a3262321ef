import { KEY_BYTES, TAIL, writeBlockKey } from './block-key.ts'
import type { Bytes, ReadOptions, Store } from './environment.ts'
import { SummaryPage } from './summary-page.ts'

/** Pages whose heads are read in one go. */
const PAGES = 256

/**
 * The pages of summaries of one tag in one state of the environment. Each block of the tag, the tail not among them, has its place in
 * exactly one page; pages are in time order. Each stands under the time of its first block, the newest under TAIL, so that the
 * page that most changes and reads want is found without a search.
 *
 * All throw Damage when a page that they find cannot be read.
 */
export class SummaryPages {
  readonly #store: Store
  readonly #reader: { readonly options: ReadOptions | undefined }
  readonly #tag: number
  /** `undefined` when nobody looked yet. */
  #newest: SummaryPage | null | undefined

  constructor(store: Store, reader: { readonly options: ReadOptions | undefined }, tag: number) {
    this.#store = store
    this.#reader = reader
    this.#tag = tag
  }

  /** The newest page; `null` when the tag has no blocks. */
  newest(): SummaryPage | null {
    if (this.#newest === undefined) {
      const value = this.#get(TAIL)
      this.#newest = value === undefined ? null : new SummaryPage(value)
    }
    return this.#newest
  }

  /** The last page, the newest not among them, that begins at or before an instant. */
  before(at: number): SummaryPage | null {
    const end = writeBlockKey(END, this.#tag, Number.MIN_SAFE_INTEGER)
    return this.#range(at, end, true, 1)[0] ?? null
  }

  /** The first page, the newest not among them, that begins at or after an instant. */
  after(at: number): SummaryPage | null {
    return this.#range(at, writeBlockKey(END, this.#tag, TAIL), false, 1)[0] ?? null
  }

  /** Gives the pages that can have blocks with points of [from, to), in time order; reads of others may lie in between. */
  *walk(from: number, to: number): Generator<SummaryPage, void, void> {
    const newest = this.newest()
    if (newest === null) return
    if (newest.firstTime > from) {
      const first = this.before(from)
      if (first !== null) yield first
      let next = (first?.firstTime ?? Math.max(from, Number.MIN_SAFE_INTEGER + 1) - 1) + 1
      const stop = Math.min(to, newest.firstTime)
      while (next < stop) {
        const pages = this.#range(next, writeBlockKey(END, this.#tag, stop), false, PAGES)
        yield* pages
        if (pages.length < PAGES) break
        next = pages.at(-1)!.firstTime + 1
      }
    }
    if (newest.firstTime < to) yield newest
  }

  #range(from: number, end: Uint8Array, reverse: boolean, limit: number): SummaryPage[] {
    const start = writeBlockKey(KEY, this.#tag, from)
    const pages: SummaryPage[] = []
    const options = this.#reader.options
    for (const { value } of this.#store.getRange({ start, end, reverse, limit, ...options })) {
      const page: SummaryPage = new SummaryPage(value, () => this.#get(page.firstTime))
      pages.push(page)
    }
    return pages
  }

  #get(time: number): Bytes | undefined {
    return this.#store.get(writeBlockKey(KEY, this.#tag, time), this.#reader.options)
  }
}

/** Scratch for keys: lmdb-js copies a key before it returns. */
const KEY = new Uint8Array(KEY_BYTES)
const END = new Uint8Array(KEY_BYTES)
