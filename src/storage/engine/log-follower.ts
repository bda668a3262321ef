import { join } from 'node:path'
import { Damage } from '../damage.ts'
import { type FileHandle, type Files, isGone } from '../files/files.ts'
import { type ReadSegment, readSegmentHeader, SequenceCheck } from '../wal/read-log.ts'
import { scanInSteps } from '../wal/scan.ts'
import { SEGMENT_HEADER_BYTES, type SegmentHeader, segmentName } from '../wal/segment.ts'
import type { WalPosition, WalRecord } from '../wal/wal-record.ts'

/** Longer ranges of the log are read into memory of their own, which is freed at once. */
const MOST_KEPT_BYTES = 1 << 20

/** Bytes that are read in a step: a few milliseconds. */
const BYTES_OF_STEP = 8 << 20

/** What is to be waited for in a pause; nothing where others are only let in. */
export type Wait = Promise<void> | void

/** Takes what is read, in the order in which it counts. */
export interface FollowTarget {
  /** The next record, in steps. It shares memory that is used again afterwards. */
  take(record: WalRecord): Generator<Wait, void>
  damaged(damage: Damage): void
  /** What follows belongs to another generation of the same owner. */
  rotate(): void
}

/** Reads the log of an owner on, from where it was read to. */
export class LogFollower {
  readonly #files: Files
  readonly #folder: string
  readonly #token: number
  #nextSequence: number
  /** The segment that is read; `null` before the first. */
  #header: SegmentHeader | null = null
  /** Its number, or that of the last one that is not needed. */
  #segment: number
  #offset = 0
  #generation: number | null = null
  #file: FileHandle | null = null
  /** What short ranges of the log are read into. */
  #kept: ArrayBuffer | null = null

  /**
   * @param read       segments that were read, in order
   * @param published  up to where they were; `null` where nothing was published
   */
  constructor(
    files: Files,
    folder: string,
    token: number,
    nextSequence: number,
    read: readonly ReadSegment[],
    published: WalPosition | null,
  ) {
    this.#files = files
    this.#folder = folder
    this.#token = token
    this.#nextSequence = nextSequence
    const last = read.findLast(({ header }) => header.token === token)
    this.#segment = last?.header.segment ?? published?.segment ?? 0
    if (last === undefined) return
    this.#header = last.header
    this.#offset = last.bytes
    this.#generation = last.header.generation
  }

  /**
   * Reads all records up to what the owner published, in steps; to be ended before the next call. Throws ENOENT or
   * ESTALE when some of it is gone.
   */
  *readUntil(published: WalPosition, target: FollowTarget): Generator<Wait, void> {
    if (published.segment === 0) return
    const headers = this.#headersUntil(published.segment)
    const found: (WalRecord | Damage)[] = []
    const checked = new SequenceCheck(this.#nextSequence, {
      take: (record) => void found.push(record),
      damaged: (damage) => void found.push(damage),
    })
    const readTo = (end: number) => this.#readTo(end, checked, found, target)
    for (const next of headers) {
      if (this.#header !== null) {
        // One that no later one names has no groups, or none that were not read.
        const follower = headers.find(({ previous }) => previous === this.#header!.segment)
        if (follower !== undefined) yield* readTo(follower.previousBytes)
      }
      this.#close()
      if (this.#generation !== null && next.generation !== this.#generation) target.rotate()
      this.#header = next
      this.#segment = next.segment
      this.#offset = SEGMENT_HEADER_BYTES
      this.#generation = next.generation
    }
    yield* readTo(published.offset)
  }

  /**
   * Closes the segment that is read when its generation is flushed, and all of it was read: its space comes back only
   * when nobody has it open.
   */
  closeFlushed(generation: number): void {
    if (this.#header !== null && this.#header.generation <= generation) this.#close()
  }

  close(): void {
    this.#close()
  }

  /**
   * Headers of the segments behind the one that is read, in order, without those that could not be begun: of one of
   * these nothing is left, or no header. Throws Damage, and ENOENT or ESTALE where one that has groups is gone.
   */
  #headersUntil(last: number): readonly SegmentHeader[] {
    const headers: SegmentHeader[] = []
    const gone = new Map<number, unknown>()
    for (let segment = this.#segment + 1; segment <= last; segment++) {
      try {
        const header = readSegmentHeader(this.#files, this.#path(segment))
        if (header !== null) headers.push(header)
        else if (segment === last) throw new Damage(`segment ${segment} of the log is too short`)
      } catch (error) {
        if (segment === last || !isGone(error)) throw error
        gone.set(segment, error)
      }
    }
    // Each names the last one before it that has groups.
    for (const { previous } of headers) if (gone.has(previous)) throw gone.get(previous)
    return headers
  }

  #path(segment: number): string {
    return join(this.#folder, segmentName(this.#token, segment))
  }

  /** @param found  what came through `checked`, which is taken from there */
  *#readTo(
    end: number,
    checked: SequenceCheck,
    found: (WalRecord | Damage)[],
    target: FollowTarget,
  ): Generator<Wait, void> {
    const header = this.#header
    // What was published before stands in parts.
    if (header === null) return
    const length = end - this.#offset
    if (length <= 0) return
    this.#file ??= this.#files.open(this.#path(header.segment))
    const bytes = this.#memory(length)
    try {
      const read = yield* readInSteps(this.#file, bytes, this.#offset)
      if (read < length) {
        checked.damaged(new Damage(`segment ${header.segment} of the log is too short`))
      }
      yield* scanInSteps(bytes, header, { from: 0, atLeast: length, limit: length }, checked)
      for (const one of found.splice(0)) {
        if (one instanceof Damage) target.damaged(one)
        else {
          yield* target.take(one)
          this.#nextSequence = one.sequence + 1
        }
      }
    } finally {
      // Nobody keeps what a record shares with it. Left to the garbage collector, it would be there until the next
      // collection of the whole heap, which a process that nobody reads from does not make.
      if (length > MOST_KEPT_BYTES) bytes.buffer.transfer(0)
    }
    this.#offset = end
  }

  /** So many bytes at the beginning of their memory, which is used again if it is not long. */
  #memory(length: number): Buffer<ArrayBuffer> {
    if (length > MOST_KEPT_BYTES) return Buffer.from(new ArrayBuffer(length))
    this.#kept ??= new ArrayBuffer(MOST_KEPT_BYTES)
    const bytes = Buffer.from(this.#kept, 0, length)
    // Of a file that is too short, no record of before may seem to be its rest.
    return bytes.fill(0)
  }

  #close(): void {
    this.#file?.close()
    this.#file = null
  }
}

/** Fills bytes from a place of a file, which may end before; gives how many were read. */
function* readInSteps(file: FileHandle, bytes: Buffer, from: number): Generator<Wait, number> {
  for (let at = 0; ; at += BYTES_OF_STEP) {
    const end = Math.min(bytes.length, at + BYTES_OF_STEP)
    const read = file.readNow(bytes.subarray(at, end), from + at)
    if (at + read < end || end === bytes.length) return at + read
    yield
  }
}
