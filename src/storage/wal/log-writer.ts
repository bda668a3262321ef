import { join } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import { atOnce, inSlices } from '../pause.ts'
import { AppendFailed, type WalDevice } from './device.ts'
import type { RecordBody } from './group.ts'
import { bytesOfRecords, GroupBuffer } from './group-buffer.ts'
import {
  encodeSegmentHeader,
  newSegment,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  segmentName,
} from './segment.ts'
import type { WalPosition } from './wal-record.ts'

/**
 * Groups of more bytes are encoded in slices. Those of many small requests have fewer (POINTS_PER_GROUP of the
 * committer): they go to the log at once, in some 5 ms.
 */
const LARGE_GROUP = 12 << 20

/** A segment of this owner. */
interface OwnSegment {
  readonly name: string
  readonly generation: number
  /** Those that count. */
  bytes: number
}

/** A segment that takes no more groups, and its bytes that count. */
export interface CompleteSegment {
  readonly name: string
  readonly bytes: number
}

/**
 * Writes the WAL of one owner: groups of records, each durable before the next one is begun. After a group failed so
 * that nothing is known of it, what follows goes to a new segment, whose header says that the group does not count.
 */
export class LogWriter {
  readonly #device: WalDevice
  readonly #folder: string
  readonly #token: number
  readonly #clock: Clock
  readonly #buffer = new GroupBuffer()
  /** Segments that may have records which are not flushed, in order. */
  #segments: OwnSegment[] = []
  #header: SegmentHeader | null = null
  #needsSegment = true
  #segment = 0
  #offset = 0
  /** The last segment that has groups, and its bytes that count. */
  #previous = { segment: 0, bytes: 0 }
  #generation: number
  #nextSequence: number
  /** Records that the buffer has; `null` for none that are to be written. */
  #prepared: readonly RecordBody[] | null = null
  #isAppending = false
  /** Resolves when the segment that was dropped last is closed; never rejects. */
  #ending: Promise<void> | null = null

  constructor(
    device: WalDevice,
    folder: string,
    start: { readonly token: number; readonly generation: number; readonly nextSequence: number },
    clock: Clock = systemClock,
  ) {
    this.#device = device
    this.#folder = folder
    this.#token = start.token
    this.#clock = clock
    this.#generation = start.generation
    this.#nextSequence = start.nextSequence
  }

  /** The number that the next record gets. */
  get nextSequence(): number {
    return this.#nextSequence
  }

  /** What the next record belongs to. */
  get generation(): number {
    return this.#generation
  }

  /** Up to where all is durable; segment 0 before the first group. */
  get position(): WalPosition {
    return {
      token: this.#token,
      segment: this.#previous.segment,
      offset: this.#previous.bytes,
      lastSequence: this.#nextSequence - 1,
    }
  }

  /** Bytes of the segment that is written. */
  get bytes(): number {
    return this.#offset
  }

  /** Whether the next group begins a segment. */
  get beginsSegment(): boolean {
    return this.#needsSegment || !this.#device.hasSegment
  }

  /** Has the next group begin a new generation. */
  rotate(): void {
    this.#generation++
    this.#needsSegment = true
  }

  /** Has the next group begin a segment, when this one has groups. */
  cut(): void {
    if (this.#offset > SEGMENT_HEADER_BYTES) this.#needsSegment = true
  }

  /** Segments that take no more groups, in order, as long as they are not dropped. */
  completed(): readonly CompleteSegment[] {
    return this.#segments.slice(0, this.#needsSegment ? undefined : -1).map(complete)
  }

  /** Those of them whose generations are flushed. */
  completedUntil(generation: number): readonly CompleteSegment[] {
    return this.#segments.filter((segment) => segment.generation <= generation).map(complete)
  }

  /** Takes segments away whose generations are flushed; one that is still open is closed. */
  dropUntil(generation: number): void {
    this.#segments = this.#segments.filter((segment) => segment.generation > generation)
    // A group under way is of a later generation, whose first segment closes the one before.
    if (this.#isAppending || !this.#device.hasSegment || this.#header!.generation > generation) return
    this.#needsSegment = true
    // What keeps a file that is not needed from being closed keeps nothing else from going on.
    this.#ending = this.#device.end().catch(() => {})
  }

  /**
   * Encodes records in slices, of which `append` is to be called next; `null` where they are few enough to be encoded
   * there. Whoever calls looks at what may have changed meanwhile before that.
   */
  prepare(records: readonly RecordBody[]): Promise<void> | null {
    if (bytesOfRecords(records) <= LARGE_GROUP) return null
    this.#prepared = null
    return inSlices(this.#buffer.put(records)).then(() => {
      this.#prepared = records
    })
  }

  /**
   * Makes records durable as one group; their numbers begin with `nextSequence` at the time of the call. Rejects with
   * AppendFailed, or with what kept a new segment from being made; only after an AppendFailed that is not `isIntact`
   * they may count all the same, if the process ends before the next group.
   */
  async append(records: readonly RecordBody[]): Promise<void> {
    this.#isAppending = true
    try {
      await this.#ending
      await this.#append(records)
    } finally {
      this.#isAppending = false
      this.#prepared = null
    }
  }

  async close(): Promise<void> {
    await this.#ending
    await this.#device.close()
  }

  async #append(records: readonly RecordBody[]): Promise<void> {
    if (this.beginsSegment) await this.#begin()
    if (this.#prepared !== records) atOnce(this.#buffer.put(records))
    const { nextSequence } = this
    const bytes = this.#buffer.group(this.#header!, this.#offset, nextSequence, this.#clock())
    try {
      await this.#device.append(bytes, this.#offset)
    } catch (error) {
      if (!(error instanceof AppendFailed && error.isIntact)) this.#needsSegment = true
      throw error
    }
    this.#offset += bytes.length
    this.#previous = { segment: this.#segment, bytes: this.#offset }
    this.#segments.at(-1)!.bytes = this.#offset
    this.#nextSequence += records.length
    this.#buffer.trim()
  }

  async #begin(): Promise<void> {
    const segment = ++this.#segment
    const name = segmentName(this.#token, segment)
    const header = newSegment({
      token: this.#token,
      segment,
      generation: this.#generation,
      previous: this.#previous.segment,
      firstSequence: this.#nextSequence,
      previousBytes: this.#previous.bytes,
    })
    // What is left of the one before counts up to what was durable.
    this.#needsSegment = true
    await this.#device.begin(join(this.#folder, name), this.#folder, encodeSegmentHeader(header))
    // What may be left of one that failed has no group; the next owner removes it.
    this.#segments.push({ name, generation: this.#generation, bytes: 0 })
    this.#header = header
    this.#offset = SEGMENT_HEADER_BYTES
    this.#needsSegment = false
  }
}

const complete = ({ name, bytes }: OwnSegment): CompleteSegment => ({ name, bytes })
