import { crc32 } from 'node:zlib'
import { type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import type { Arena, Place } from '../arena.ts'
import { Damage } from '../damage.ts'
import type { Bytes } from '../environment.ts'

/** Points of tags by their ids, as they were accepted: in any order, the same time more than once allowed. */
export interface JournalPoints {
  readonly tags: Uint32Array
  /** One more than `tags`, ascending from 0: where the points of each tag begin. */
  readonly offsets: Uint32Array
  readonly points: PointColumns
}

/** Spans of points that were removed, [from, to) of one tag each; infinite for all that a tag had. */
export interface JournalRemoval {
  readonly spans: readonly { readonly tag: number; readonly from: number; readonly to: number }[]
}

/** What one record says. */
export type JournalRecord =
  | ({ readonly kind: 'points' } & JournalPoints)
  | ({ readonly kind: 'removal' } & JournalRemoval)

/**
 * A record as bytes, little-endian:
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 | 1 points, 2 removal |
 * | 2 | u8 | 1 when there is a column of statuses, 0 when all points are OK |
 * | 3 | u8 | 0 |
 * | 4 | u32 | CRC-32 of the whole record with 0 in this place |
 * | 8 | u32 | n, number of tags or of removed spans |
 * | 12 | u32 | m, number of points; 0 for a removal |
 * | 16 | f64 × m | times; of a removal f64 × n where the spans begin |
 * | | f64 × m | values; of a removal f64 × n where they end (excluded) |
 * | | u32 × n | ids of the tags |
 * | | u32 × n | number of points of each tag; not in a removal |
 * | | u8 × m | statuses, when there is a column of them |
 */
const RECORD_VERSION = 1
const POINTS = 1
const REMOVAL = 2
const HEADER_BYTES = 16

export function encodePoints(arena: Arena, { tags, offsets, points }: JournalPoints): Bytes {
  const { times, values, statuses } = points
  const count = times.length
  const withStatuses = statuses.includes(STATUS_BAD)
  const size = HEADER_BYTES + count * 16 + tags.length * 8 + (withStatuses ? count : 0)
  const place = arena.allocate(size)
  const { doubles, bytes, offset } = place
  const at = (offset + HEADER_BYTES) >> 3
  doubles.set(times, at)
  doubles.set(values, at + count)
  const words = new Uint32Array(bytes.buffer)
  let word = (offset + HEADER_BYTES + count * 16) >> 2
  words.set(tags, word)
  word += tags.length
  for (let i = 0; i < tags.length; i++) words[word + i] = offsets[i + 1]! - offsets[i]!
  if (withStatuses) bytes.set(statuses, offset + size - count)
  return seal(place, size, POINTS, withStatuses, tags.length, count)
}

export function encodeRemoval(arena: Arena, { spans }: JournalRemoval): Bytes {
  const count = spans.length
  const size = HEADER_BYTES + count * 20
  const place = arena.allocate(size)
  const { doubles, bytes, offset } = place
  const at = (offset + HEADER_BYTES) >> 3
  const words = new Uint32Array(bytes.buffer)
  const word = (offset + HEADER_BYTES + count * 16) >> 2
  for (const [index, { tag, from, to }] of spans.entries()) {
    doubles[at + index] = from
    doubles[at + count + index] = to
    words[word + index] = tag
  }
  return seal(place, size, REMOVAL, false, count, 0)
}

function seal(
  { bytes, offset }: Place,
  size: number,
  kind: number,
  withStatuses: boolean,
  tags: number,
  points: number,
): Bytes {
  const record = Buffer.from(bytes.buffer, offset, size)
  record[0] = RECORD_VERSION
  record[1] = kind
  record[2] = withStatuses ? 1 : 0
  record[3] = 0
  record.writeUInt32LE(0, 4)
  record.writeUInt32LE(tags, 8)
  record.writeUInt32LE(points, 12)
  record.writeUInt32LE(crc32(record), 4)
  return bytes.subarray(offset, offset + size)
}

/** The record in bytes that are copied. Throws Damage when they are none. */
export function decodeRecord(value: Bytes): JournalRecord {
  // A copy of its own: aligned, and not overwritten by the next read; lmdb-js hands out a longer buffer than its length says.
  const bytes = new Uint8Array(value.subarray(0, value.length))
  const record = Buffer.from(bytes.buffer)
  if (record.length < HEADER_BYTES) throw new Damage('a journal record is too short')
  if (record[0] !== RECORD_VERSION) {
    throw new Damage(`a journal record has the unknown version ${record[0]}`)
  }
  const checksum = record.readUInt32LE(4)
  record.writeUInt32LE(0, 4)
  if (crc32(record) !== checksum) throw new Damage('the checksum of a journal record is wrong')
  const tags = record.readUInt32LE(8)
  const points = record.readUInt32LE(12)
  if (record[1] === REMOVAL) return readRemoval(record, tags)
  if (record[1] !== POINTS) throw new Damage('a journal record is of an unknown kind')
  return readPoints(record, tags, points, record[2] === 1)
}

function readPoints(record: Buffer, tags: number, count: number, withStatuses: boolean): JournalRecord {
  if (record.length !== HEADER_BYTES + count * 16 + tags * 8 + (withStatuses ? count : 0)) {
    throw new Damage('a journal record does not fit its size')
  }
  const { buffer } = record
  const ids = HEADER_BYTES + count * 16
  const counts = new Uint32Array(buffer, ids + tags * 4, tags)
  const offsets = new Uint32Array(tags + 1)
  for (let i = 0; i < tags; i++) offsets[i + 1] = offsets[i]! + counts[i]!
  if (offsets[tags] !== count) throw new Damage('a journal record contradicts itself')
  return {
    kind: 'points',
    tags: new Uint32Array(buffer, ids, tags),
    offsets,
    points: {
      times: new Float64Array(buffer, HEADER_BYTES, count),
      values: new Float64Array(buffer, HEADER_BYTES + count * 8, count),
      statuses: withStatuses ? new Uint8Array(buffer, ids + tags * 8, count) : new Uint8Array(count),
    },
  }
}

function readRemoval(record: Buffer, count: number): JournalRecord {
  if (record.length !== HEADER_BYTES + count * 20) throw new Damage('a journal record does not fit its size')
  const from = new Float64Array(record.buffer, HEADER_BYTES, count)
  const to = new Float64Array(record.buffer, HEADER_BYTES + count * 8, count)
  const tags = new Uint32Array(record.buffer, HEADER_BYTES + count * 16, count)
  return {
    kind: 'removal',
    spans: Array.from(tags, (tag, index) => ({ tag, from: from[index]!, to: to[index]! })),
  }
}
