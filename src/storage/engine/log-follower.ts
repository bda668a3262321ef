import { join } from 'node:path'
import { Damage } from '../damage.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { type LogTarget, type ReadSegment, readSegmentHeader, SequenceCheck } from '../wal/read-log.ts'
import { scanSegment } from '../wal/scan.ts'
import { SEGMENT_HEADER_BYTES, type SegmentHeader, segmentName } from '../wal/segment.ts'
import type { WalPosition } from '../wal/wal-record.ts'

/** Longer ranges of the log are read into memory of their own, which is freed at once. */
const MOST_KEPT_BYTES = 1 << 20

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

  /** Reads all records up to what the owner published. Throws ENOENT or ESTALE when some of it is gone. */
  readUntil(published: WalPosition, target: LogTarget): void {
    if (published.segment === 0) return
    const headers: SegmentHeader[] = []
    for (let segment = this.#segment + 1; segment <= published.segment; segment++) {
      const header = readSegmentHeader(this.#files, this.#path(segment))
      if (header !== null) headers.push(header)
      else if (segment === published.segment) throw new Damage(`segment ${segment} of the log is too short`)
    }
    const checked = new SequenceCheck(this.#nextSequence, {
      ...target,
      take: (record) => {
        this.#nextSequence = record.sequence + 1
        target.take(record)
      },
    })
    for (const next of headers) {
      if (this.#header !== null) {
        // One that no later one names has no groups, or none that were not read.
        const follower = headers.find(({ previous }) => previous === this.#header!.segment)
        if (follower !== undefined) this.#readTo(follower.previousBytes, checked)
      }
      this.#close()
      if (this.#generation !== null && next.generation !== this.#generation) target.rotate?.()
      this.#header = next
      this.#segment = next.segment
      this.#offset = SEGMENT_HEADER_BYTES
      this.#generation = next.generation
    }
    this.#readTo(published.offset, checked)
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

  #path(segment: number): string {
    return join(this.#folder, segmentName(this.#token, segment))
  }

  #readTo(end: number, target: SequenceCheck): void {
    const header = this.#header
    // What was published before stands in parts.
    if (header === null) return
    const length = end - this.#offset
    if (length <= 0) return
    this.#file ??= this.#files.open(this.#path(header.segment))
    const bytes = this.#memory(length)
    if (this.#file.readNow(bytes, this.#offset) < length) {
      target.damaged(new Damage(`segment ${header.segment} of the log is too short`))
    }
    scanSegment(bytes, header, { from: 0, atLeast: length, limit: length }, target)
    // Nobody keeps what a record shares with it. Left to the garbage collector, it would be there until the next
    // collection of the whole heap, which a process that nobody reads from does not make.
    if (length > MOST_KEPT_BYTES) bytes.buffer.transfer(0)
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
