import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import { fillRegular } from './regular-times.ts'
import { RemovedSpans } from './removed-spans.ts'
import type { SegmentHeader } from './segment.ts'
import { BYTES_OF_STEP, crc32InSteps } from './steps.ts'
import type { WalRecord } from './wal-record.ts'

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
export const RECORD_HEADER_BYTES = 32
export const WITH_STATUSES = 1
export const ONE_EACH = 2
export const REGULAR = 4

/** What a request adds to the WAL, before it has its number. */
export type RecordBody = Omit<WalRecord, 'sequence'>

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
 * The record at an offset, which shares memory with the bytes, and where it ends; in steps where it is long. Throws
 * Damage.
 * @param bytes  begin at a multiple of 8 bytes of their memory
 */
export function* readRecord(
  bytes: Buffer,
  at: number,
  end: number,
  sequence: number,
): Generator<void, { readonly record: WalRecord; readonly end: number }> {
  const size = at + RECORD_HEADER_BYTES <= end ? bytes.readUInt32LE(at) : 0
  if (size < RECORD_HEADER_BYTES || size % 8 !== 0 || at + size > end) {
    throw new Damage(`record ${sequence} of the log does not fit its size`)
  }
  const checksum = bytes.readUInt32LE(at + 4)
  bytes.writeUInt32LE(0, at + 4)
  const own = bytes.subarray(at, at + size)
  const actual = size <= BYTES_OF_STEP ? crc32(own) : yield* crc32InSteps(own)
  bytes.writeUInt32LE(checksum, at + 4)
  if (actual !== checksum) throw new Damage(`the checksum of record ${sequence} of the log is wrong`)
  return { record: yield* decodeRecord(bytes, at, size, sequence), end: at + size }
}

function* decodeRecord(
  bytes: Buffer,
  at: number,
  size: number,
  sequence: number,
): Generator<void, WalRecord> {
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
  return {
    sequence,
    catalog: catalogBytes > 0 ? new Uint8Array(buffer.slice(place, place + catalogBytes)) : null,
    removed: spans === 0 ? RemovedSpans.none : new RemovedSpans(removedTags, from, to),
    points:
      tags === 0
        ? null
        : {
            tags: ids,
            offsets,
            points: { times: isRegular ? yield* fillRegular(times, offsets) : times, values, statuses },
          },
  }
}
