import { lowerBound, type PointColumns, sliceColumns, upperBound } from '../series/columns.ts'
import { type BlockView, LONGEST_BLOCK } from './block.ts'
import { KEY_BYTES, TAIL, writeBlockKey } from './block-key.ts'
import { Damage } from './damage.ts'
import type { Bytes, ReadOptions, Store } from './environment.ts'
import { mergePoints } from './sort-points.ts'
import { SummaryPages } from './summary-pages.ts'
import type { VerifiedBlocks } from './verified-blocks.ts'

/** What reading blocks takes, shared by all tags of a historian. */
export interface BlockAccess {
  readonly points: Store
  /** See summary-page.ts; `null` in a historian that has none yet. */
  readonly summaries: Store | null
  /** Opened again for each block that is read: never more than one is looked at. */
  readonly view: BlockView
  /** Blocks that were verified since the start: one is checked once, not on every read. */
  readonly verified: VerifiedBlocks
}

/** How much of a block is checked when it is found: its header, or all of it. */
export type Check = 'header' | 'all'

/**
 * The stored blocks of one tag in one state of the environment, found by time. A tag has blocks in time order that do not overlap
 * and, after all of them, at most one tail; to a reader the tail is the last block.
 *
 * After a `seek` that gives true, `view` is the block that was found, until the next seek or any other read.
 * All throw Damage when the block that they find cannot be read.
 */
export class StoredBlocks {
  readonly view: BlockView
  readonly #access: BlockAccess
  readonly #reader: { readonly options: ReadOptions | undefined }
  readonly #tag: number
  /** Time of the tail's first point, TAIL without one, NaN when nobody looked yet. */
  #tailFirst = Number.NaN
  /** Summaries of the blocks; `null` in a historian that has none yet. */
  readonly pages: SummaryPages | null

  constructor(access: BlockAccess, reader: { readonly options: ReadOptions | undefined }, tag: number) {
    this.#access = access
    this.#reader = reader
    this.#tag = tag
    this.view = access.view
    this.pages = access.summaries === null ? null : new SummaryPages(access.summaries, reader, tag)
  }

  /** Whether the block in view is the tail. */
  get isTail(): boolean {
    return this.view.firstTime === this.#tailFirst
  }

  /** Views the last block that begins at or before `at`. */
  seekBefore(at: number, check: Check = 'all'): boolean {
    // The tail first: most reads are of the newest points, and finding it is cheaper than finding a block.
    if (!(at < this.#tailFirst) && this.seekTail(check) && this.#tailFirst <= at) return true
    return this.seekBlockBefore(at, check)
  }

  /** Views the first block that begins at or after `at`. */
  seekAfter(at: number, check: Check = 'all'): boolean {
    if (this.seekBlockAfter(at, check)) return true
    return !(this.#tailFirst < at) && this.seekTail(check) && this.#tailFirst >= at
  }

  /** Views the block with the first point at or after `at`. */
  seekCovering(at: number, check: Check = 'all'): boolean {
    if (this.seekBefore(at, check) && this.view.lastTime >= at) return true
    return this.seekAfter(at, check)
  }

  /** Views the tail. */
  seekTail(check: Check = 'all'): boolean {
    if (this.#tailFirst === TAIL) return false
    const bytes = this.#access.points.get(writeBlockKey(KEY, this.#tag, TAIL), this.#reader.options)
    if (bytes === undefined) {
      this.#tailFirst = TAIL
      return false
    }
    this.#open(bytes)
    // Tails are small and change with every write: remembering that one was verified would cost more than it spares.
    if (check === 'all') this.view.verify()
    this.#tailFirst = this.view.firstTime
    return true
  }

  /** Views the last block, without regard to the tail, that begins at or before `at`. */
  seekBlockBefore(at: number, check: Check = 'all'): boolean {
    return this.#seekBlock(at, writeBlockKey(END, this.#tag, Number.MIN_SAFE_INTEGER), true, check)
  }

  /** Views the newest block, without regard to the tail. */
  seekNewestBlock(): boolean {
    if (this.pages === null) return this.seekBlockBefore(Number.MAX_SAFE_INTEGER)
    const page = this.pages.newest()
    if (page === null) return false
    this.openBlock(page.time(page.count - 1))
    return true
  }

  /** Views the first block, without regard to the tail, that begins at or after `at`. */
  seekBlockAfter(at: number, check: Check = 'all'): boolean {
    return this.#seekBlock(at, writeBlockKey(END, this.#tag, TAIL), false, check)
  }

  /** Verifies the block in view, when only its header was looked at. */
  verify(): void {
    const { verified } = this.#access
    const { checksum } = this.view
    if (verified.has(this.#tag, checksum)) return
    this.view.verify()
    verified.add(this.#tag, checksum)
  }

  /** Views the block under a key, which a page of summaries names. Throws Damage when there is none. */
  openBlock(time: number): void {
    const bytes = this.#access.points.get(writeBlockKey(KEY, this.#tag, time), this.#reader.options)
    if (bytes === undefined) throw new Damage('a block is missing')
    this.#open(bytes)
    this.verify()
  }

  #seekBlock(at: number, end: Uint8Array, reverse: boolean, check: Check): boolean {
    const start = writeBlockKey(KEY, this.#tag, at)
    const transaction = this.#reader.options
    for (const { value } of this.#access.points.getRange({ start, end, reverse, limit: 1, ...transaction })) {
      this.#open(value)
      if (check === 'all') this.verify()
      return true
    }
    return false
  }

  #open(bytes: Bytes): void {
    if (bytes.length > LONGEST_BLOCK) throw new Damage('a block is too long')
    this.view.open(bytes, bytes.length)
  }
}

/** Scratch for keys: lmdb-js copies a key before it returns. */
const KEY = new Uint8Array(KEY_BYTES)
const END = new Uint8Array(KEY_BYTES)

/**
 * All points of one tag in one state, found by time as blocks: the stored ones and those in memory, seen as one. Where points in
 * memory lie within a stored block, that block is seen with them merged in; where they lie between, before or after stored
 * blocks, they are seen as a block of their own. So blocks are in time order and do not overlap, whatever was folded so far.
 *
 * After a `seek` that gives true, `view` is the block that was found, until the next seek or any other read.
 * All throw Damage when the block that they find cannot be read.
 */
export class TagBlocks {
  readonly view: BlockView
  readonly stored: StoredBlocks
  /** Points in memory, in time order, that replace stored ones of the same time; `null` without any. */
  readonly head: PointColumns | null
  /** Whether the block in view holds points in memory. */
  #isMemory = false

  constructor(stored: StoredBlocks, head: PointColumns | null) {
    this.stored = stored
    this.view = stored.view
    this.head = head
  }

  /** Views the last block that begins at or before `at`. */
  seekBefore(at: number, check: Check = 'all'): boolean {
    this.#isMemory = false
    const { head, stored, view } = this
    if (head === null || head.times[0]! > at) {
      // Points in memory behind `at` can still lie in the block that is found.
      if (!stored.seekBefore(at, check)) return false
      return head === null || this.#mergeInto(head)
    }
    const found = stored.seekBefore(at, check)
    if (found && at <= view.lastTime) return this.#mergeInto(head)
    const last = upperBound(head.times, at) - 1
    const storedLast = found ? view.lastTime : Number.NEGATIVE_INFINITY
    if (head.times[last]! <= storedLast) return this.#mergeInto(head)
    return this.#viewBetween(head, storedLast, last)
  }

  /** Views the first block that begins at or after `at`. */
  seekAfter(at: number, check: Check = 'all'): boolean {
    this.#isMemory = false
    const { head, stored, view } = this
    if (head === null) return stored.seekAfter(at, check)
    const first = lowerBound(head.times, at)
    if (first === head.times.length) return stored.seekAfter(at, check) && this.#mergeInto(head)
    // The stored block that the point may lie in, or behind.
    const time = head.times[first]!
    const before = stored.seekBefore(time, 'header')
    if (before && view.firstTime >= at) return this.#seekFirstStored(head, at, check)
    const start = before ? lowerBound(head.times, view.lastTime + 1) : 0
    // A block of points in memory that begins before `at` is not one that begins after it.
    if (start < head.times.length && head.times[start]! >= at) {
      const storedLast = before ? view.lastTime : Number.NEGATIVE_INFINITY
      const hasNext = stored.seekAfter(at, 'header')
      if (!hasNext || head.times[start]! < view.firstTime) return this.#viewBetween(head, storedLast, start)
    }
    return this.#seekFirstStored(head, at, check)
  }

  /** Views the block with the first point at or after `at`. */
  seekCovering(at: number, check: Check = 'all'): boolean {
    if (this.seekBefore(at, check) && this.view.lastTime >= at) return true
    return this.seekAfter(at, check)
  }

  /** Verifies the block in view, when only its header was looked at. */
  verify(): void {
    if (!this.#isMemory) this.stored.verify()
  }

  #seekFirstStored(head: PointColumns, at: number, check: Check): boolean {
    return this.stored.seekAfter(at, check) && this.#mergeInto(head)
  }

  /** Views the stored block in view with the points in memory that lie within it. */
  #mergeInto(head: PointColumns): boolean {
    const { view } = this
    const start = lowerBound(head.times, view.firstTime)
    const end = upperBound(head.times, view.lastTime)
    if (start === end) return true
    this.stored.verify()
    const merged = mergePoints(view.columns(), sliceColumns(head, start, end))
    this.#isMemory = true
    view.openColumns(merged, 0, merged.times.length)
    return true
  }

  /** Views the points in memory around one of them that lie between stored blocks: behind `storedLast`, before the next one. */
  #viewBetween(head: PointColumns, storedLast: number, index: number): boolean {
    const start = storedLast === Number.NEGATIVE_INFINITY ? 0 : upperBound(head.times, storedLast)
    const last = head.times.length - 1
    const hasNext =
      this.stored.seekAfter(head.times[index]!, 'header') && this.view.firstTime <= head.times[last]!
    const end = hasNext ? lowerBound(head.times, this.view.firstTime) : last + 1
    this.#isMemory = true
    this.view.openColumns(head, start, end)
    return true
  }
}
