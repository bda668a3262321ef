import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { FileHandle, Files } from '../files/files.ts'
import type { AcceptedSegment } from '../manifest/version.ts'
import { atOnce } from '../pause.ts'
import type { RecordBody } from './group.ts'
import { bytesOfRecords, GroupBuffer } from './group-buffer.ts'
import { RemovedSpans } from './removed-spans.ts'
import {
  encodeSegmentHeader,
  newSegment,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  segmentName,
} from './segment.ts'
import type { WalRecord } from './wal-record.ts'

/**
 * Generation of segments that a repair wrote: they are accepted ones only, and none of those that an owner has written
 * since its manifest.
 */
export const REWRITTEN_GENERATION = 0

const SEGMENT_BYTES = 64 * 2 ** 20
/** A group is written when it has so many bytes or records, about. */
const GROUP_BYTES = 4 * 2 ** 20
const GROUP_RECORDS = 1 << 16

const UNFINISHED = '.new'
const EMPTY: RecordBody = { catalog: null, removed: RemovedSpans.none, points: null }

interface Written extends AcceptedSegment {
  readonly header: SegmentHeader
}

/**
 * Writes a log anew: records with the numbers that they had, and empty ones in place of those that are lost, so that
 * numbers have no gaps. The segments come to their names when all of them are durable, the first one last: where it is
 * there, all are. They count when a manifest accepts them.
 */
export class LogRewriter {
  readonly #files: Files
  readonly #folder: string
  readonly #token: number
  readonly #clock: Clock
  readonly #segmentBytes: number
  readonly #buffer = new GroupBuffer()
  readonly #written: Written[] = []
  #file: FileHandle | null = null
  #header: SegmentHeader | null = null
  #offset = 0
  #group: RecordBody[] = []
  #groupBytes = 0
  /** Number of the first record of the group. */
  #first: number

  /**
   * @param folder  that of the WAL
   * @param token   of the owner that repairs
   * @param first   number of the first record
   * @param clock   gives the commit time of all groups, in microseconds since 1970: theirs is not kept
   * @param segmentBytes  a segment takes no more groups from there on
   */
  constructor(
    files: Files,
    folder: string,
    token: number,
    first: number,
    clock: Clock,
    segmentBytes = SEGMENT_BYTES,
  ) {
    this.#files = files
    this.#folder = folder
    this.#token = token
    this.#first = first
    this.#clock = clock
    this.#segmentBytes = segmentBytes
  }

  /** Number of the next record. */
  get next(): number {
    return this.#first + this.#group.length
  }

  /** Takes a record whose number is `next` or higher. What it shares memory with must stay until `finish`. */
  put(record: WalRecord): void {
    this.fill(record.sequence - 1)
    this.append(record)
  }

  /** Has empty records up to a number. */
  fill(last: number): void {
    while (this.next <= last) this.append(EMPTY)
  }

  /** Takes the next record. */
  append({ catalog, removed, points }: RecordBody): void {
    const record = { catalog, removed, points }
    this.#group.push(record)
    this.#groupBytes += bytesOfRecords([record])
    if (this.#groupBytes >= GROUP_BYTES || this.#group.length >= GROUP_RECORDS) this.endGroup()
  }

  /** Has all of it on disk, under its names. There is one record at least. */
  finish(): readonly AcceptedSegment[] {
    this.endGroup()
    this.#endSegment()
    for (const { name } of this.#written.toReversed()) {
      const path = join(this.#folder, name)
      // With the second one all others have their names on disk.
      if (name === this.#written[0]!.name) this.#files.syncFolder(this.#folder)
      this.#files.rename(path + UNFINISHED, path)
    }
    this.#files.syncFolder(this.#folder)
    return this.#written.map(({ name, bytes }) => ({ name, bytes }))
  }

  /** Gives up what was written. Never throws. */
  abandon(): void {
    this.#file?.close()
    this.#file = null
    try {
      removeUnfinished(this.#files, this.#folder)
    } catch {
      // It is removed by the next repair, or start.
    }
  }

  /** Writes what was taken since the last group as one. */
  endGroup(): void {
    if (this.#group.length === 0) return
    if (this.#file === null) this.#beginSegment()
    atOnce(this.#buffer.put(this.#group))
    const bytes = this.#buffer.group(this.#header!, this.#offset, this.#first, this.#clock())
    this.#file!.writeNow(bytes, this.#offset)
    this.#offset += bytes.length
    this.#first += this.#group.length
    this.#group = []
    this.#groupBytes = 0
    this.#buffer.trim()
    if (this.#offset >= this.#segmentBytes) this.#endSegment()
  }

  #beginSegment(): void {
    const before = this.#written.at(-1)
    const segment = this.#written.length + 1
    this.#header = newSegment({
      token: this.#token,
      segment,
      generation: REWRITTEN_GENERATION,
      previous: before?.header.segment ?? 0,
      firstSequence: this.#first,
      previousBytes: before?.bytes ?? 0,
    })
    const path = join(this.#folder, segmentName(this.#token, segment))
    this.#file = this.#files.create(path + UNFINISHED)
    this.#file.writeNow(encodeSegmentHeader(this.#header), 0)
    this.#offset = SEGMENT_HEADER_BYTES
  }

  #endSegment(): void {
    if (this.#file === null) return
    this.#file.syncNow()
    this.#file.close()
    this.#file = null
    const header = this.#header!
    this.#written.push({ name: segmentName(this.#token, header.segment), bytes: this.#offset, header })
  }
}

/** Whether a file is a segment that came to no name, as the repair was killed. */
export const isUnfinished = (name: string): boolean => name.endsWith(`.wal${UNFINISHED}`)

/** Removes what is left of such segments. */
export function removeUnfinished(files: Files, folder: string): void {
  for (const name of files.list(folder)) {
    if (isUnfinished(name)) files.remove(join(folder, name))
  }
}
