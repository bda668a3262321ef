import { crc32 } from 'node:zlib'
import { STATUS_BAD } from '../../series/columns.ts'
import { Damage } from '../damage.ts'
import { fillRegular, findRegular } from './regular-times.ts'
import type { SegmentHeader } from './segment.ts'
import type { PointsOfTags, RemovedSpan, WalRecord } from './wal-record.ts'

/**
 * A group is what one sync makes durable: a header, and a record for each request. All of it is little-endian and
 * aligned to 8 bytes.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u32 × 2 | the segment's random numbers |
 * | 8 | u32 | bytes of the group with this header |
 * | 12 | u32 | number of records |
 * | 16 | f64 | sequence number of the first one; the others follow |
 * | 24 | f64 | offset in the segment up to which all was durable when the group was written |
 * | 32 | f64 | when it was committed: whole microseconds since 1970 by the owner's clock, before the sync |
 * | 40 | u32 | 0 |
 * | 44 | u32 | CRC-32 of the header before |
 *
 * A record:
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u32 | bytes of the record |
 * | 4 | u32 | CRC-32 of the record with 0 in this place |
 * | 8 | u32 | c, bytes of changes of the catalog |
 * | 12 | u32 | k, number of removed spans |
 * | 16 | u32 | n, number of tags with points |
 * | 20 | u32 | m, number of points |
 * | 24 | u32 | 1: there is a column of statuses, else all points are OK; 2: each tag has one point; 4: steps, not times |
 * | 28 | u32 | 0 |
 * | 32 | f64 × m | times; with 4, f64 × n first ones and f64 × n steps: time i is first + i · step |
 * | | f64 × m | values |
 * | | f64 × k | where the removed spans begin |
 * | | f64 × k | where they end (excluded) |
 * | | u32 × k | tags of the removed spans |
 * | | u32 × n | ids of the tags |
 * | | u32 × n | number of points of each tag; left out when each has one |
 * | | u8 × m | statuses, when there is a column of them |
 * | | u8 × c | changes of the catalog, then zeros up to a multiple of 8 bytes |
 */
export const GROUP_HEADER_BYTES = 48
const RECORD_HEADER_BYTES = 32
const WITH_STATUSES = 1
const ONE_EACH = 2
const REGULAR = 4

/** What a request adds to the WAL, before it has its number. */
export type RecordBody = Omit<WalRecord, 'sequence'>

function isOneEach({ tags, points }: PointsOfTags): boolean {
  return tags.length === points.times.length
}

/** Whether each tag has exactly one point; an empty one and a double one would have the same sum. */
function areSingle(points: PointsOfTags): boolean {
  if (!isOneEach(points)) return false
  const { offsets } = points
  for (let i = 1; i < offsets.length; i++) if (offsets[i] !== i) return false
  return true
}

interface Sizes {
  readonly bytes: number
  readonly flags: number
  /** First times and steps, with the flag REGULAR. */
  readonly regular: Float64Array | null
}

function sizesOf({ catalog, removed, points }: RecordBody): Sizes {
  let bytes = RECORD_HEADER_BYTES + removed.length * 20 + (catalog?.length ?? 0)
  let flags = 0
  let regular: Float64Array | null = null
  if (points !== null) {
    const count = points.points.times.length
    if (points.points.statuses.includes(STATUS_BAD)) flags |= WITH_STATUSES
    if (areSingle(points)) flags |= ONE_EACH
    regular = findRegular(points)
    if (regular !== null) flags |= REGULAR
    bytes += 8 * ((regular?.length ?? count) + count)
    bytes += points.tags.length * ((flags & ONE_EACH) !== 0 ? 4 : 8)
    if ((flags & WITH_STATUSES) !== 0) bytes += count
  }
  return { bytes: (bytes + 7) & ~7, flags, regular }
}

/** A buffer that groups are encoded into, one after the other. It grows, and may be shared with another thread. */
export class GroupBuffer {
  #buffer: SharedArrayBuffer
  #bytes: Uint8Array
  #doubles: Float64Array
  #words: Uint32Array

  constructor(capacity = 1 << 20) {
    this.#buffer = new SharedArrayBuffer(capacity)
    this.#bytes = new Uint8Array(this.#buffer)
    this.#doubles = new Float64Array(this.#buffer)
    this.#words = new Uint32Array(this.#buffer)
  }

  /** The group that was encoded last, until the next one. @param time  of the commit, in microseconds since 1970 */
  encode(
    segment: SegmentHeader,
    durable: number,
    firstSequence: number,
    time: number,
    records: readonly RecordBody[],
  ): Uint8Array {
    const sizes = records.map(sizesOf)
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, GROUP_HEADER_BYTES)
    this.#reserve(total)
    const words = this.#words
    words[0] = segment.nonce
    words[1] = segment.nonce2
    words[2] = total
    words[3] = records.length
    this.#doubles[2] = firstSequence
    this.#doubles[3] = durable
    this.#doubles[4] = time
    words[10] = 0
    words[11] = crc32(this.#bytes.subarray(0, GROUP_HEADER_BYTES - 4))
    let at = GROUP_HEADER_BYTES
    records.forEach((record, i) => {
      this.#put(at, record, sizes[i]!)
      at += sizes[i]!.bytes
    })
    return this.#bytes.subarray(0, total)
  }

  /** Gives much memory back that one large group took. */
  trim(): void {
    if (this.#buffer.byteLength > 16 << 20) this.#reserveExactly(1 << 20)
  }

  #put(at: number, { catalog, removed, points }: RecordBody, { bytes, flags, regular }: Sizes): void {
    const words = this.#words
    const doubles = this.#doubles
    const count = points?.points.times.length ?? 0
    const tags = points?.tags.length ?? 0
    const start = at >> 2
    words[start] = bytes
    words[start + 1] = 0
    words[start + 2] = catalog?.length ?? 0
    words[start + 3] = removed.length
    words[start + 4] = tags
    words[start + 5] = count
    words[start + 6] = flags
    words[start + 7] = 0
    let double = (at + RECORD_HEADER_BYTES) >> 3
    if (points !== null) {
      const times = regular ?? points.points.times
      doubles.set(times, double)
      doubles.set(points.points.values, double + times.length)
      double += times.length + count
    }
    let word = (double + 2 * removed.length) << 1
    for (let i = 0; i < removed.length; i++) {
      const { tag, from, to } = removed[i]!
      doubles[double + i] = from
      doubles[double + removed.length + i] = to
      words[word + i] = tag
    }
    word += removed.length
    if (points !== null) {
      words.set(points.tags, word)
      word += tags
      if ((flags & ONE_EACH) === 0) {
        const { offsets } = points
        for (let i = 0; i < tags; i++) words[word + i] = offsets[i + 1]! - offsets[i]!
        word += tags
      }
    }
    let byte = word << 2
    if (points !== null && (flags & WITH_STATUSES) !== 0) {
      this.#bytes.set(points.points.statuses, byte)
      byte += count
    }
    if (catalog !== null) {
      this.#bytes.set(catalog, byte)
      byte += catalog.length
    }
    this.#bytes.fill(0, byte, at + bytes)
    words[start + 1] = crc32(this.#bytes.subarray(at, at + bytes))
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.byteLength) return
    this.#reserveExactly(Math.ceil((bytes * 1.25) / 4096) * 4096)
  }

  #reserveExactly(bytes: number): void {
    this.#buffer = new SharedArrayBuffer(bytes)
    this.#bytes = new Uint8Array(this.#buffer)
    this.#doubles = new Float64Array(this.#buffer)
    this.#words = new Uint32Array(this.#buffer)
  }
}

/** What the header of a group says. */
export interface GroupHeader {
  readonly bytes: number
  readonly records: number
  readonly firstSequence: number
  readonly durable: number
  /** When it was committed, in microseconds since 1970 by the clock of its owner. */
  readonly time: number
}

/** The header of a group at an offset of the bytes of a segment; `null` when there is none. */
export function readGroupHeader(bytes: Buffer, at: number, segment: SegmentHeader): GroupHeader | null {
  if (at + GROUP_HEADER_BYTES > bytes.length) return null
  if (bytes.readUInt32LE(at) !== segment.nonce || bytes.readUInt32LE(at + 4) !== segment.nonce2) return null
  if (crc32(bytes.subarray(at, at + 44)) !== bytes.readUInt32LE(at + 44)) return null
  const header = {
    bytes: bytes.readUInt32LE(at + 8),
    records: bytes.readUInt32LE(at + 12),
    firstSequence: bytes.readDoubleLE(at + 16),
    durable: bytes.readDoubleLE(at + 24),
    time: bytes.readDoubleLE(at + 32),
  }
  const room = header.bytes - GROUP_HEADER_BYTES
  const isPossible =
    header.bytes % 8 === 0 &&
    header.records > 0 &&
    header.records * RECORD_HEADER_BYTES <= room &&
    Number.isSafeInteger(header.firstSequence)
  return isPossible ? header : null
}

/**
 * The record at an offset, which shares memory with the bytes, and where it ends.
 * @param bytes  begin at a multiple of 8 bytes of their memory
 * Throws Damage.
 */
export function readRecord(
  bytes: Buffer,
  at: number,
  end: number,
  sequence: number,
): { readonly record: WalRecord; readonly end: number } {
  const size = at + RECORD_HEADER_BYTES <= end ? bytes.readUInt32LE(at) : 0
  if (size < RECORD_HEADER_BYTES || size % 8 !== 0 || at + size > end) {
    throw new Damage(`record ${sequence} of the log does not fit its size`)
  }
  const checksum = bytes.readUInt32LE(at + 4)
  bytes.writeUInt32LE(0, at + 4)
  const actual = crc32(bytes.subarray(at, at + size))
  bytes.writeUInt32LE(checksum, at + 4)
  if (actual !== checksum) throw new Damage(`the checksum of record ${sequence} of the log is wrong`)
  return { record: decodeRecord(bytes, at, size, sequence), end: at + size }
}

function decodeRecord(bytes: Buffer, at: number, size: number, sequence: number): WalRecord {
  const catalogBytes = bytes.readUInt32LE(at + 8)
  const spans = bytes.readUInt32LE(at + 12)
  const tags = bytes.readUInt32LE(at + 16)
  const count = bytes.readUInt32LE(at + 20)
  const flags = bytes.readUInt32LE(at + 24)
  const perTag = (flags & ONE_EACH) !== 0 ? 4 : 8
  const statusBytes = (flags & WITH_STATUSES) !== 0 ? count : 0
  const isRegular = (flags & REGULAR) !== 0
  const timeCount = isRegular ? 2 * tags : count
  const needed =
    RECORD_HEADER_BYTES + 8 * (timeCount + count) + 20 * spans + perTag * tags + statusBytes + catalogBytes
  if (((needed + 7) & ~7) !== size || needed > size) {
    throw new Damage(`record ${sequence} of the log contradicts itself`)
  }
  const { buffer } = bytes
  let place = bytes.byteOffset + at + RECORD_HEADER_BYTES
  const times = new Float64Array(buffer, place, timeCount)
  const values = new Float64Array(buffer, place + 8 * timeCount, count)
  place += 8 * (timeCount + count)
  const from = new Float64Array(buffer, place, spans)
  const to = new Float64Array(buffer, place + 8 * spans, spans)
  place += 16 * spans
  const removedTags = new Uint32Array(buffer, place, spans)
  place += 4 * spans
  const ids = new Uint32Array(buffer, place, tags)
  place += 4 * tags
  const offsets = new Uint32Array(tags + 1)
  if ((flags & ONE_EACH) !== 0) {
    for (let i = 0; i <= tags; i++) offsets[i] = i
  } else {
    const counts = new Uint32Array(buffer, place, tags)
    for (let i = 0; i < tags; i++) offsets[i + 1] = offsets[i]! + counts[i]!
    place += 4 * tags
  }
  if (offsets[tags] !== count) throw new Damage(`record ${sequence} of the log contradicts itself`)
  const statuses = statusBytes > 0 ? new Uint8Array(buffer, place, count) : new Uint8Array(count)
  place += statusBytes
  const removed: RemovedSpan[] = Array.from(removedTags, (tag, i) => ({ tag, from: from[i]!, to: to[i]! }))
  return {
    sequence,
    catalog: catalogBytes > 0 ? new Uint8Array(buffer.slice(place, place + catalogBytes)) : null,
    removed,
    points:
      tags === 0
        ? null
        : {
            tags: ids,
            offsets,
            points: { times: isRegular ? fillRegular(times, offsets) : times, values, statuses },
          },
  }
}
