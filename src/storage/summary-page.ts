import { crc32 } from 'node:zlib'
import type { Arena } from './arena.ts'
import { Damage } from './damage.ts'
import type { Bytes } from './environment.ts'
import { joinStretches, readStretch, STRETCH_BYTES, type Stretch, writeStretch } from './stretch.ts'

/** What is known of a stored block without reading it. */
export interface BlockSummary {
  /** Of its first point. */
  readonly time: number
  /** `null` for a plain block, whose points have to be read. */
  readonly stretch: Stretch | null
}

/**
 * An entry of `summaries`: the summaries of up to PAGE_BLOCKS blocks that follow each other in a tag, and before them the summary of
 * them all. A read over years takes a page whole where all of it lies in one window; only at the edges of windows it looks
 * at the blocks of a page.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 2 |
 * | 1 | u8 | 1 when there is a summary of all, which needs that of every block; else 0 |
 * | 2 | u16 | n, number of blocks, at least 1 |
 * | 4 | u32 | checksum of the first 144 bytes with 0 in this place (below) |
 * | 8 | u32 | CRC-32 of what follows them |
 * | 12 | u32 | 0 |
 * | 16 | f64 × 16 | summary of all (stretch.ts); where there is none the time of the first point in the third place, else zeros |
 * | 144 | f64 × 16 × n | summary of each block; the same of one that has none |
 *
 * Where n is 1 the summary of all is that of the block, and the page ends with it: most tags of many have one block or two.
 */
const VERSION = 2
const PREFIX_BYTES = 16
const HEADER_BYTES = PREFIX_BYTES + STRETCH_BYTES

/** A full page fills a page of lmdb, which has 16 bytes of its own there: 3,984 of 4,080 bytes. */
export const PAGE_BLOCKS = 30

/** @param blocks  ascending, 1 to PAGE_BLOCKS */
export function encodePage(arena: Arena, blocks: readonly BlockSummary[]): Bytes {
  const isOne = blocks.length === 1
  const size = pageBytes(blocks.length)
  const { bytes, doubles, offset } = arena.allocate(size)
  const page = bytes.subarray(offset, offset + size)
  page.fill(0)
  let at = (offset + (isOne ? PREFIX_BYTES : HEADER_BYTES)) >> 3
  const stretches: Stretch[] = []
  for (const { time, stretch } of blocks) {
    if (stretch === null) doubles[at + 2] = time
    else {
      writeStretch(doubles, at, stretch)
      stretches.push(stretch)
    }
    at += STRETCH_BYTES >> 3
  }
  const hasAll = stretches.length === blocks.length
  if (hasAll && !isOne) writeStretch(doubles, (offset + PREFIX_BYTES) >> 3, joinStretches(stretches))
  doubles[((offset + PREFIX_BYTES) >> 3) + 2] = blocks[0]!.time
  page[0] = VERSION
  page[1] = hasAll ? 1 : 0
  page[2] = blocks.length
  const words = new Uint32Array(bytes.buffer, offset, HEADER_BYTES >> 2)
  words[2] = crc32(page.subarray(HEADER_BYTES))
  words[1] = checksum(words)
  return page
}

function pageBytes(blocks: number): number {
  return HEADER_BYTES + (blocks === 1 ? 0 : blocks * STRETCH_BYTES)
}

/**
 * FNV-1a with words in place of bytes, over the head of a page with 0 for the checksum. Many heads are read in a millisecond, and a
 * call out of JavaScript for each would take as long as all the rest. Finds every damage within one word.
 */
function checksum(words: Uint32Array): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < HEADER_BYTES >> 2; i++) hash = Math.imul(hash ^ (i === 1 ? 0 : words[i]!), 0x01000193)
  return hash >>> 0
}

/** A page that was read: a copy, to be kept as long as one likes. */
export class SummaryPage {
  /** Number of blocks. */
  readonly count: number
  readonly #reload: (() => Bytes | undefined) | null
  #bytes: Uint8Array<ArrayBuffer>
  #doubles: Float64Array
  #isVerified: boolean

  /**
   * Checks the head. Throws Damage.
   * @param reload  gives the value again: then only the head is copied, and the rest when somebody asks for it
   */
  constructor(value: Bytes, reload: (() => Bytes | undefined) | null = null) {
    const size = value.length
    if (size < HEADER_BYTES || size % 8 !== 0) throw new Damage('a page of summaries has a wrong size')
    const bytes = copyOf(value, reload === null ? size : HEADER_BYTES)
    const words = new Uint32Array(bytes.buffer, 0, HEADER_BYTES >> 2)
    if (checksum(words) !== words[1]) throw new Damage('the checksum of a page of summaries is wrong')
    if (bytes[0] !== VERSION) throw new Damage(`a page of summaries has the unknown version ${bytes[0]}`)
    this.count = bytes[2]! | (bytes[3]! << 8)
    if (this.count === 0 || size !== pageBytes(this.count)) {
      throw new Damage('a page of summaries does not fit its size')
    }
    this.#bytes = bytes
    this.#doubles = new Float64Array(bytes.buffer)
    this.#reload = reload
    this.#isVerified = this.count === 1
  }

  /** The summary of all blocks; `null` when one of them has none. */
  get whole(): Stretch | null {
    return this.#bytes[1] === 1 ? readStretch(this.#doubles, PREFIX_BYTES >> 3, true) : null
  }

  /** Time of the first point of a block. */
  time(block: number): number {
    const at = this.#at(block)
    return this.#doubles[at + 2]!
  }

  get firstTime(): number {
    return this.#doubles[(PREFIX_BYTES >> 3) + 2]!
  }

  /** Of its last point; NaN for a block without a summary. */
  lastTime(block: number): number {
    const at = this.#at(block)
    return this.#doubles[at] === 0 ? Number.NaN : this.#doubles[at + 3]!
  }

  /** The summary of a block; `null` for one that has none. */
  stretch(block: number): Stretch | null {
    const at = this.#at(block)
    return this.#doubles[at] === 0 ? null : readStretch(this.#doubles, at, true)
  }

  blocks(): BlockSummary[] {
    return Array.from({ length: this.count }, (_, i) => ({ time: this.time(i), stretch: this.stretch(i) }))
  }

  /** Index of the last block that begins at or before an instant; -1 when all begin after it. */
  blockBefore(at: number): number {
    let block = this.count - 1
    while (block >= 0 && this.time(block) > at) block--
    return block
  }

  /** What follows the head is checked when it is looked at first. Throws Damage. */
  #at(block: number): number {
    if (!this.#isVerified) this.#verify()
    return ((this.count === 1 ? PREFIX_BYTES : HEADER_BYTES) + block * STRETCH_BYTES) >> 3
  }

  #verify(): void {
    const size = pageBytes(this.count)
    if (this.#bytes.length < size) {
      const value = this.#reload?.()
      if (value?.length !== size) throw new Damage('a page of summaries is missing')
      this.#bytes = copyOf(value, size)
      this.#doubles = new Float64Array(this.#bytes.buffer)
    }
    const expected = new Uint32Array(this.#bytes.buffer)[2]
    if (crc32(this.#bytes.subarray(HEADER_BYTES)) !== expected) {
      throw new Damage('the checksum of summaries is wrong')
    }
    this.#isVerified = true
  }
}

/** lmdb-js hands out a longer buffer than its length says, which the next read overwrites. */
function copyOf(value: Bytes, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(value.subarray(0, size))
  return bytes
}
