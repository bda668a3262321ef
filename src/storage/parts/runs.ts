import type { PointColumns } from '../../series/columns.ts'
import type { BlockView } from '../blocks/block.ts'
import { Damage, isUnreadable } from '../damage.ts'
import type { PageMemory, PageReader } from './block-cache.ts'
import { BLOCK, SUMMARIES } from './page-kinds.ts'
import type { PartRun } from './part.ts'
import type { PartSummary } from './part-summary.ts'
import type { IndexPage } from './run-index.ts'
import { SUMMED_BLOCKS, type SummaryPage, summaryPageBytes } from './summary-page.ts'

/** The points of a tag with few of them: one block, decoded. */
export class SmallRun implements PartRun {
  readonly tag: number
  readonly count: number
  readonly firstTime: number
  readonly lastTime: number
  readonly blocks = 1
  readonly pages = 0
  readonly points: PointColumns

  constructor(tag: number, points: PointColumns) {
    this.tag = tag
    this.points = points
    this.count = points.times.length
    this.firstTime = points.times[0]!
    this.lastTime = points.times[this.count - 1]!
  }

  blockBefore(at: number): number {
    return this.firstTime <= at ? 0 : -1
  }

  blockFirst(): number {
    return this.firstTime
  }

  blockLast(): number {
    return this.lastTime
  }

  blockCount(): number {
    return this.count
  }

  blockSummary(): null {
    return null
  }

  open(_block: number, view: BlockView): void {
    view.openColumns(this.points, 0, this.count)
  }

  pageOf(): number {
    return 0
  }

  pageStart(): number {
    return 0
  }

  pageSummary(): null {
    return null
  }

  openAhead(block: number, view: BlockView): void {
    this.open(block, view)
  }

  load(): null {
    return null
  }
}

/** Blocks are fetched together up to so many bytes. */
const LONGEST_LOAD = 4 << 20
/** Blocks of a scan that are kept in a full cache, and how many of those after them: one of so many. */
const KEPT_OF_SCAN = 32
const KEPT_SHARE = 8

const NO_BYTES = new Uint8Array(0)

/** The points of a tag in compressed blocks. */
export class LargeRun implements PartRun {
  readonly tag: number
  readonly blocks: number
  readonly pages: number
  readonly #reader: PageReader
  readonly #page: IndexPage
  readonly #run: number
  /** Number of the run's first block in the page. */
  readonly #start: number
  /** Blocks that were read ahead, from #aheadFrom to before #aheadEnd, as they stand in the file. */
  #ahead: Uint8Array<ArrayBuffer> = NO_BYTES
  #aheadFrom = 0
  #aheadEnd = 0
  /** How many blocks were read ahead. */
  #scanned = 0
  /** The block that was found last. */
  #near = 0

  constructor(reader: PageReader, page: IndexPage, run: number) {
    this.#reader = reader
    this.#page = page
    this.#run = run
    this.#start = page.start(run)
    this.tag = page.columns.tags[run]!
    this.blocks = page.columns.ends[run]! - this.#start
    this.pages = Math.ceil(this.blocks / SUMMED_BLOCKS)
  }

  get count(): number {
    let count = 0
    for (let block = 0; block < this.blocks; block++) count += this.blockCount(block)
    return count
  }

  get firstTime(): number {
    return this.blockFirst(0)
  }

  get lastTime(): number {
    return this.blockLast(this.blocks - 1)
  }

  blockBefore(at: number): number {
    const { firstTimes } = this.#page.columns
    // Reads go forwards, most of them from block to block.
    const near = this.#start + this.#near
    if (firstTimes[near]! <= at) {
      if (this.#near + 1 === this.blocks || firstTimes[near + 1]! > at) return this.#near
      if (this.#near + 2 === this.blocks || firstTimes[near + 2]! > at) return ++this.#near
    }
    let low = 0
    let high = this.blocks
    while (low < high) {
      const middle = (low + high) >>> 1
      if (firstTimes[this.#start + middle]! <= at) low = middle + 1
      else high = middle
    }
    if (low > 0) this.#near = low - 1
    return low - 1
  }

  blockFirst(block: number): number {
    return this.#page.columns.firstTimes[this.#start + block]!
  }

  blockLast(block: number): number {
    return this.#page.columns.lastTimes[this.#start + block]!
  }

  blockCount(block: number): number {
    return this.#page.columns.counts[this.#start + block]!
  }

  blockSummary(block: number): PartSummary | null {
    return this.#summaries(this.pageOf(block))?.summary(block % SUMMED_BLOCKS) ?? null
  }

  /** Bytes of a block. */
  blockBytes(block: number): number {
    return this.#page.columns.sizes[this.#start + block]!
  }

  /** Where a block is in the file. */
  blockAt(block: number): number {
    return this.#page.blockAt(this.#run, this.#start + block)
  }

  /** A block as it stands in the file, verified. */
  blockOf(block: number): Uint8Array<ArrayBuffer> {
    return this.#reader.page(this.blockAt(block), this.blockBytes(block), BLOCK)
  }

  /** The same past the cache, in memory that is used again. */
  blockInto(memory: PageMemory, block: number): Uint8Array<ArrayBuffer> {
    return this.#reader.readNowInto(memory, this.blockAt(block), this.blockBytes(block))
  }

  open(block: number, view: BlockView): void {
    this.openBytes(block, this.blockOf(block), view)
  }

  /** Opens a view on the bytes of a block. Throws Damage when they are not those of this block. */
  openBytes(block: number, bytes: Uint8Array<ArrayBuffer>, view: BlockView): void {
    try {
      view.open(bytes, bytes.length)
    } catch (error) {
      if (error instanceof Damage) this.#reader.damaged(error.message)
      throw error
    }
    const isThis =
      view.count === this.blockCount(block) &&
      view.firstTime === this.blockFirst(block) &&
      view.lastTime === this.blockLast(block)
    if (!isThis) this.#reader.damaged('a block is not the one that the index names')
  }

  pageOf(block: number): number {
    return Math.floor(block / SUMMED_BLOCKS)
  }

  pageStart(page: number): number {
    return Math.min(this.blocks, page * SUMMED_BLOCKS)
  }

  pageSummary(page: number): PartSummary | null {
    return this.#summaries(page)?.whole ?? null
  }

  /** Where a page of summaries is in the file. */
  summariesAt(page: number): number {
    const last = this.pageStart(page + 1) - 1
    return this.blockAt(last) + this.blockBytes(last)
  }

  /** Bytes of a page of summaries. */
  summariesBytes(page: number): number {
    return summaryPageBytes(this.pageStart(page + 1) - this.pageStart(page))
  }

  /** `null` for a page that is damaged: the points say the same, and the check of the part reports it. */
  #summaries(page: number): SummaryPage | null {
    try {
      return this.#reader.page(this.summariesAt(page), this.summariesBytes(page), SUMMARIES)
    } catch (error) {
      if (error instanceof Damage) return null
      throw error
    }
  }

  openAhead(block: number, view: BlockView): void {
    const at = this.blockAt(block)
    if (!this.#isAhead(block) || this.#reader.has(at)) {
      this.open(block, view)
      return
    }
    const start = at - this.blockAt(this.#aheadFrom)
    const bytes = this.#ahead.subarray(start, start + this.blockBytes(block))
    this.openBytes(block, this.#reader.verified(bytes), view)
  }

  load(first: number, last: number): Promise<void> | null {
    if (this.#has(first)) return null
    let to = last
    while (to > first && this.#has(to)) to--
    const at = this.blockAt(first)
    const bytes = this.blockAt(to) + this.blockBytes(to) - at
    return bytes > LONGEST_LOAD ? null : this.#load(first, to, at, bytes)
  }

  #has(block: number): boolean {
    return this.#isAhead(block) || this.#reader.has(this.blockAt(block))
  }

  #isAhead(block: number): boolean {
    return block >= this.#aheadFrom && block < this.#aheadEnd
  }

  /**
   * Scan resistance: what is read ahead stays in one buffer, which the next blocks take again, and only some of it goes
   * into the cache. A scan of more than the cache holds would otherwise evict all of it and find nothing of itself
   * there the next time, and memory for each block costs several times what reading it from the page cache does.
   */
  async #load(from: number, to: number, at: number, bytes: number): Promise<void> {
    this.#aheadEnd = this.#aheadFrom
    if (this.#ahead.length < bytes) this.#ahead = new Uint8Array(bytes)
    const all = this.#ahead
    try {
      await this.#reader.readInto(all.subarray(0, bytes), at)
    } catch (error) {
      // Blocks that a summary stands for need not be read: what is needed is read by itself, and fails then.
      if (!isUnreadable(error)) throw error
      return
    }
    this.#aheadFrom = from
    this.#aheadEnd = to + 1
    for (let block = from; block <= to; block++) {
      const isFirst = this.#scanned < KEPT_OF_SCAN
      const isKept = isFirst || this.#scanned % KEPT_SHARE === 0 || this.#reader.cacheHasRoom
      this.#scanned++
      if (!isKept) continue
      const start = this.blockAt(block)
      // A copy of its own: one block that is kept would keep all of them.
      this.#reader.offer(start, all.slice(start - at, start - at + this.blockBytes(block)), BLOCK)
    }
  }
}
