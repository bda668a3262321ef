import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { ByteReader, ByteWriter } from '../blocks/varint.ts'
import { Damage } from '../damage.ts'
import { addChecksum, aligned } from './page-checksum.ts'
import type { RunExtent } from './part.ts'
import { decodeRun, decodeTimesOf, encodeRun, LONGEST_RUN, MOST_SMALL } from './small-run.ts'
import { indexOfTag } from './tag-search.ts'

/**
 * A page of small runs: those of tags that follow each other in the part, with one checksum.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 | 0 |
 * | 2 | u16 | n, number of runs, at least 1 |
 * | 4 | u32 | CRC-32 of the page with 0 in this place |
 * | 8 | f64 | time of the first point of the first run |
 * | 16 | u32 | id of the first tag |
 * | 20 | u32 | bytes of the runs |
 * | 24 | varint x (n - 1) | of each further tag the difference of its id from the one before |
 * | | varint x n | bytes of each run |
 * | | | the runs (small-run.ts), zeros up to a multiple of 8 bytes |
 */
const VERSION = 1
const HEADER_BYTES = 24
/** A page is full when its runs have so many bytes, or when it has so many of them. */
const FULL_BYTES = 4_096
const MOST_RUNS = 1_024
/** Runs whose times the next one may share. */
const RECENT = 4

/** Makes pages, one after the other. */
export class SmallPageBuilder {
  readonly #runs = new ByteWriter(FULL_BYTES + LONGEST_RUN)
  readonly #tags = new Uint32Array(MOST_RUNS)
  readonly #sizes = new Uint32Array(MOST_RUNS)
  readonly #head = new ByteWriter(HEADER_BYTES + MOST_RUNS * 10)
  /** Times of the last runs that have some of their own, and the number of each of them in the page. */
  readonly #recent = Array.from({ length: RECENT }, () => new Float64Array(MOST_SMALL))
  readonly #recentCount = new Uint32Array(RECENT)
  readonly #recentRun = new Uint32Array(RECENT)
  #nextRecent = 0
  #count = 0
  #base = 0

  /** Runs in the page that is being made. */
  get count(): number {
    return this.#count
  }

  get firstTag(): number {
    return this.#tags[0]!
  }

  get isFull(): boolean {
    return this.#runs.length >= FULL_BYTES || this.#count === MOST_RUNS
  }

  /** Adds the first points of columns as the run of the next tag, to a page that is not full. */
  add(tag: number, points: PointColumns, count: number): void {
    if (this.#count === 0) this.#base = points.times[0]!
    const shared = this.#sharedTimes(points.times, count)
    const from = this.#runs.length
    encodeRun(this.#runs, points, count, this.#base, shared)
    if (shared < 0) this.#remember(points.times, count)
    this.#tags[this.#count] = tag
    this.#sizes[this.#count] = this.#runs.length - from
    this.#count++
  }

  #sharedTimes(times: Float64Array, count: number): number {
    for (let i = 0; i < RECENT; i++) {
      const known = this.#recent[i]!
      if (this.#recentCount[i] !== count || known[0] !== times[0]) continue
      let same = 1
      while (same < count && known[same] === times[same]) same++
      if (same === count) return this.#recentRun[i]!
    }
    return -1
  }

  #remember(times: Float64Array, count: number): void {
    const place = this.#nextRecent
    const recent = this.#recent[place]!
    this.#nextRecent = (place + 1) % RECENT
    for (let i = 0; i < count; i++) recent[i] = times[i]!
    this.#recentCount[place] = count
    this.#recentRun[place] = this.#count
  }

  /** The page, with its checksum; the next one is empty. */
  finish(): Uint8Array<ArrayBuffer> {
    const head = this.#head
    head.length = HEADER_BYTES
    for (let i = 1; i < this.#count; i++) head.putVarint(this.#tags[i]! - this.#tags[i - 1]!)
    for (let i = 0; i < this.#count; i++) head.putVarint(this.#sizes[i]!)
    const page = new Uint8Array(aligned(head.length + this.#runs.length))
    page.set(head.bytes.subarray(HEADER_BYTES, head.length), HEADER_BYTES)
    page.set(this.#runs.bytes.subarray(0, this.#runs.length), head.length)
    const view = new DataView(page.buffer)
    page[0] = VERSION
    view.setUint16(2, this.#count, true)
    view.setFloat64(8, this.#base, true)
    view.setUint32(16, this.firstTag, true)
    view.setUint32(20, this.#runs.length, true)
    addChecksum(page)
    this.#count = 0
    this.#runs.length = 0
    this.#recentCount.fill(0)
    return page
  }
}

const reader = new ByteReader()
const scratch = makeColumns(MOST_SMALL)

/** A page that was read. */
export class SmallPage {
  /** Ids, ascending. */
  readonly tags: Uint32Array
  readonly #bytes: Uint8Array
  readonly #base: number
  /** Where each run begins; one more entry for the end of the last. */
  readonly #starts: Uint32Array
  /** The run that is decoded. */
  #run = 0
  /** The run whose times others have that was asked for last, and these. */
  #sharedRun = -1
  #shared = scratch.times

  /** @param page  verified. Throws Damage. */
  constructor(page: Uint8Array<ArrayBuffer>) {
    if (page.length < HEADER_BYTES || page[0] !== VERSION) {
      throw new Damage('a page of runs is written in an unknown way')
    }
    const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
    const count = view.getUint16(2, true)
    if (count === 0 || count > MOST_RUNS) throw new Damage('a page of runs contradicts itself')
    this.#bytes = page
    this.#base = view.getFloat64(8, true)
    this.tags = new Uint32Array(count)
    this.#starts = new Uint32Array(count + 1)
    reader.open(page, HEADER_BYTES, page.length)
    let tag = view.getUint32(16, true)
    this.tags[0] = tag
    for (let i = 1; i < count; i++) {
      const difference = reader.varint()
      tag += difference
      if (difference === 0 || tag > 0xffff_ffff) throw new Damage('a page of runs contradicts itself')
      this.tags[i] = tag
    }
    let end = 0
    for (let i = 0; i < count; i++) {
      end += reader.varint()
      this.#starts[i + 1] = end
      if (end > page.length) throw new Damage('a page of runs does not fit its size')
    }
    const start = reader.at
    if (end !== view.getUint32(20, true) || aligned(start + end) !== page.length) {
      throw new Damage('a page of runs does not fit its size')
    }
    for (let i = 0; i <= count; i++) this.#starts[i]! += start
  }

  /** Bytes in memory beside the page. */
  get ownBytes(): number {
    return this.tags.byteLength + this.#starts.byteLength + 8 * MOST_SMALL
  }

  /** Number of the run of a tag; -1 without one. */
  indexOf(tag: number): number {
    return indexOfTag(this.tags, tag)
  }

  /** The points of a run, decoded. Throws Damage. */
  points(run: number): PointColumns {
    const count = this.decode(run, scratch, 0)
    return {
      times: scratch.times.slice(0, count),
      values: scratch.values.slice(0, count),
      statuses: scratch.statuses.slice(0, count),
    }
  }

  /** What a run says of all of it. Throws Damage. */
  measure(run: number, extent: RunExtent): void {
    extent.count = this.decode(run, scratch, 0)
    extent.firstTime = scratch.times[0]!
    extent.lastTime = scratch.times[extent.count - 1]!
  }

  /**
   * Decodes the points of a run into columns from index `to` on, which have room for MOST_SMALL more. Gives their
   * number. Throws Damage.
   */
  decode(run: number, target: PointColumns, to: number): number {
    this.#open(run)
    this.#run = run
    const count = decodeRun(reader, this.#base, this.#sharedTimes, target, to)
    const { times } = target
    for (let i = to + 1; i < to + count; i++) {
      if (!(times[i]! > times[i - 1]!)) throw new Damage('the times of a run are not ascending')
    }
    return count
  }

  /** The times that several runs have; mostly it is one and the same for all. */
  readonly #sharedTimes = (other: number): Float64Array => {
    if (other === this.#sharedRun) return this.#shared
    if (other >= this.#run) throw new Damage('the times of a run are those of none before it')
    const { at, end } = reader
    this.#open(other)
    const count = decodeTimesOf(reader, this.#base, scratch.times)
    reader.finish()
    this.#shared = scratch.times.slice(0, count)
    this.#sharedRun = other
    reader.open(this.#bytes, at, end)
    return this.#shared
  }

  #open(run: number): void {
    reader.open(this.#bytes, this.#starts[run]!, this.#starts[run + 1]!)
  }
}
