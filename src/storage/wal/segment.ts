import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import { tokenText } from '../ownership/ownership.ts'

/**
 * The header of a WAL segment, little-endian:
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 × 8 | `TMWAL`, 0, version 1, 0 |
 * | 8 | u32 | token of the owner |
 * | 12 | u32 | number of the segment, from 1 for each owner |
 * | 16 | u32 | generation: what is flushed together |
 * | 20 | u32 | number of the segment before it that has groups, of the same owner; 0 for none |
 * | 24 | f64 | sequence number of its first record |
 * | 32 | f64 | bytes that count of that segment |
 * | 40 | u32 × 2 | random: what groups begin with, so that nothing that a client sent is ever taken for one |
 * | 48 | u32 × 3 | 0 |
 * | 60 | u32 | CRC-32 of the bytes before |
 */
export const SEGMENT_HEADER_BYTES = 64
const MAGIC = Buffer.from([0x54, 0x4d, 0x57, 0x41, 0x4c, 0, 1, 0])

export interface SegmentHeader {
  readonly token: number
  readonly segment: number
  readonly generation: number
  readonly previous: number
  readonly firstSequence: number
  readonly previousBytes: number
  readonly nonce: number
  readonly nonce2: number
  /** Of one that was found out from its groups: the numbers of its first records are not known for sure. */
  readonly isUnclear?: boolean
}

/** A header with a nonce of its own. */
export function newSegment(header: Omit<SegmentHeader, 'nonce' | 'nonce2'>): SegmentHeader {
  const random = randomBytes(8)
  // Never 0: zeros are what follows the last group.
  return { ...header, nonce: (random.readUInt32LE(0) | 1) >>> 0, nonce2: random.readUInt32LE(4) }
}

export function encodeSegmentHeader(header: SegmentHeader): Uint8Array {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(header.token, 8)
  bytes.writeUInt32LE(header.segment, 12)
  bytes.writeUInt32LE(header.generation, 16)
  bytes.writeUInt32LE(header.previous, 20)
  bytes.writeDoubleLE(header.firstSequence, 24)
  bytes.writeDoubleLE(header.previousBytes, 32)
  bytes.writeUInt32LE(header.nonce, 40)
  bytes.writeUInt32LE(header.nonce2, 44)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60)
  return bytes
}

/** Throws Damage when the bytes do not begin with one. */
export function decodeSegmentHeader(from: Uint8Array): SegmentHeader {
  if (from.length < SEGMENT_HEADER_BYTES) throw new Damage('a segment of the log is too short')
  const bytes = Buffer.from(from.buffer, from.byteOffset, SEGMENT_HEADER_BYTES)
  if (!bytes.subarray(0, 8).equals(MAGIC)) throw new Damage('a segment of the log is none')
  if (crc32(bytes.subarray(0, 60)) !== bytes.readUInt32LE(60)) {
    throw new Damage('the checksum of the header of a segment of the log is wrong')
  }
  return {
    token: bytes.readUInt32LE(8),
    segment: bytes.readUInt32LE(12),
    generation: bytes.readUInt32LE(16),
    previous: bytes.readUInt32LE(20),
    firstSequence: bytes.readDoubleLE(24),
    previousBytes: bytes.readDoubleLE(32),
    nonce: bytes.readUInt32LE(40),
    nonce2: bytes.readUInt32LE(44),
  }
}

/** File name of a segment. */
export function segmentName(token: number, segment: number): string {
  return `${tokenText(token)}-${tokenText(segment)}.wal`
}

/** Token and number in a file name; `null` for one that is no segment's. */
export function parseSegmentName(name: string): { readonly token: number; readonly segment: number } | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{8})\.wal$/.exec(name)
  if (match === null) return null
  return { token: Number.parseInt(match[1]!, 16), segment: Number.parseInt(match[2]!, 16) }
}
