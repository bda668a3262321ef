import { Damage } from '../damage.ts'
import { addChecksum, aligned } from './page-checksum.ts'
import { indexOfTag } from './tag-search.ts'

/**
 * A page of the index: where the blocks of large runs are, those of tags that follow each other. A run stands in one
 * page whole. The blocks of a run follow each other in the file, a page of summaries (summary.ts) after every
 * SUMMED_BLOCKS of them and after the last.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 x 3 | 0 |
 * | 4 | u32 | CRC-32 of the page with 0 in this place |
 * | 8 | u32 | r, number of runs, at least 1 |
 * | 12 | u32 | b, number of blocks of all of them |
 * | 16 | f64 x r | where the first block of each run begins in the file |
 * | | f64 x b | time of the first point of each block |
 * | | f64 x b | time of its last point |
 * | | u32 x r | ids of the tags, ascending |
 * | | u32 x r | number of the last block of each run plus 1 |
 * | | u32 x b | where each block begins behind the first of its run, in units of 8 bytes |
 * | | u32 x b | bytes of each block |
 * | | u32 x b | points of each block |
 * | | | zeros up to a multiple of 8 bytes |
 */
const VERSION = 1
const HEADER_BYTES = 16
const RUN_BYTES = 16
const BLOCK_BYTES = 28
/** A page is full when it has so many bytes. */
const FULL_BYTES = 4_096

/** Bytes of a page with so many runs and blocks. */
export function indexPageBytes(runs: number, blocks: number): number {
  return aligned(HEADER_BYTES + runs * RUN_BYTES + blocks * BLOCK_BYTES)
}

interface PlannedRun {
  readonly tag: number
  readonly at: number
}

interface PlannedBlock {
  readonly at: number
  readonly bytes: number
  readonly count: number
  readonly firstTime: number
  readonly lastTime: number
}

/** Makes pages of the index, one after the other. */
export class IndexPageBuilder {
  #runs: PlannedRun[] = []
  #ends: number[] = []
  #blocks: PlannedBlock[] = []

  /** Runs in the page that is being made. */
  get count(): number {
    return this.#runs.length
  }

  get firstTag(): number {
    return this.#runs[0]!.tag
  }

  get isFull(): boolean {
    return indexPageBytes(this.#runs.length, this.#blocks.length) >= FULL_BYTES
  }

  /** Begins the run of the next tag. @param at  where its first block is in the file */
  beginRun(tag: number, at: number): void {
    this.#runs.push({ tag, at })
  }

  /** Adds a block to the run. @param block  `at`: its place in the file */
  addBlock(block: PlannedBlock): void {
    this.#blocks.push(block)
  }

  endRun(): void {
    this.#ends.push(this.#blocks.length)
  }

  /** The page, with its checksum; the next one is empty. */
  finish(): Uint8Array<ArrayBuffer> {
    const runs = this.#runs
    const blocks = this.#blocks
    const page = new Uint8Array(indexPageBytes(runs.length, blocks.length))
    page[0] = VERSION
    const words = new Uint32Array(page.buffer)
    words[2] = runs.length
    words[3] = blocks.length
    const columns = new Columns(page, runs.length, blocks.length)
    let block = 0
    runs.forEach(({ tag, at }, run) => {
      columns.runAt[run] = at
      columns.tags[run] = tag
      columns.ends[run] = this.#ends[run]!
      for (; block < this.#ends[run]!; block++) columns.places[block] = (blocks[block]!.at - at) / 8
    })
    blocks.forEach(({ bytes, count, firstTime, lastTime }, i) => {
      columns.firstTimes[i] = firstTime
      columns.lastTimes[i] = lastTime
      columns.sizes[i] = bytes
      columns.counts[i] = count
    })
    addChecksum(page)
    this.#runs = []
    this.#ends = []
    this.#blocks = []
    return page
  }
}

/** The columns of a page, in its memory. */
class Columns {
  readonly runAt: Float64Array
  readonly firstTimes: Float64Array
  readonly lastTimes: Float64Array
  readonly tags: Uint32Array
  readonly ends: Uint32Array
  readonly places: Uint32Array
  readonly sizes: Uint32Array
  readonly counts: Uint32Array

  constructor({ buffer, byteOffset }: Uint8Array<ArrayBuffer>, runs: number, blocks: number) {
    let at = byteOffset + HEADER_BYTES
    const doubles = (length: number) => {
      const column = new Float64Array(buffer, at, length)
      at += 8 * length
      return column
    }
    const words = (length: number) => {
      const column = new Uint32Array(buffer, at, length)
      at += 4 * length
      return column
    }
    this.runAt = doubles(runs)
    this.firstTimes = doubles(blocks)
    this.lastTimes = doubles(blocks)
    this.tags = words(runs)
    this.ends = words(runs)
    this.places = words(blocks)
    this.sizes = words(blocks)
    this.counts = words(blocks)
  }
}

/** A page of the index that was read. Runs and blocks are numbered over the whole page. */
export class IndexPage {
  readonly columns: Columns

  /** @param page  verified, in memory of its own. Throws Damage. */
  constructor(page: Uint8Array<ArrayBuffer>) {
    if (page.length < HEADER_BYTES || page[0] !== VERSION) {
      throw new Damage('a page of the index is written in an unknown way')
    }
    const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
    const runs = view.getUint32(8, true)
    const blocks = view.getUint32(12, true)
    if (runs === 0 || indexPageBytes(runs, blocks) !== page.length) {
      throw new Damage('a page of the index does not fit its size')
    }
    this.columns = new Columns(page, runs, blocks)
    const { tags, ends } = this.columns
    for (let i = 0; i < runs; i++) {
      const isAscending = i === 0 || tags[i]! > tags[i - 1]!
      if (!isAscending || !(ends[i]! > this.start(i))) {
        throw new Damage('a page of the index contradicts itself')
      }
    }
    if (ends[runs - 1] !== blocks) throw new Damage('a page of the index contradicts itself')
  }

  /** Number of the run of a tag; -1 without one. */
  indexOf(tag: number): number {
    return indexOfTag(this.columns.tags, tag)
  }

  /** The first block of a run. */
  start(run: number): number {
    return run === 0 ? 0 : this.columns.ends[run - 1]!
  }

  /** Where a block of a run is in the file. */
  blockAt(run: number, block: number): number {
    return this.columns.runAt[run]! + 8 * this.columns.places[block]!
  }
}
