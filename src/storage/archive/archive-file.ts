import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import { historianFolder } from '../files/historian-folder.ts'
import { tokenText } from '../ownership/ownership.ts'

/**
 * A file of the archive of a log: a header, then the bytes of a WAL segment that count. Little-endian.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 × 8 | `TMARC`, 0, version 1, 0 |
 * | 8 | u8 × 16 | id of the historian |
 * | 24 | f64 | number of the first record |
 * | 32 | f64 | number of the last record |
 * | 40 | f64 | when the first group was committed, in microseconds since 1970 |
 * | 48 | f64 | when the last group was |
 * | 56 | f64 | bytes of the segment |
 * | 64 | u32 | token of the owner that wrote the segment |
 * | 68 | u32 | its number |
 * | 72 | u32 | CRC-32 of the bytes of the segment |
 * | 76 | u32 | CRC-32 of the bytes before |
 */
export const ARCHIVE_HEADER_BYTES = 80
const MAGIC = Buffer.from([0x54, 0x4d, 0x41, 0x52, 0x43, 0, 1, 0])

/** What the name of an archived segment says. */
export interface ArchiveName {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly token: number
  readonly segment: number
}

export interface ArchiveHeader extends ArchiveName {
  /** Of the historian, 32 hexadecimal digits. */
  readonly id: string
  readonly firstTime: number
  readonly lastTime: number
  /** Of the segment. */
  readonly bytes: number
  readonly checksum: number
}

/** The folder of one historian in an archive, which several may share. */
export function archiveFolderOf(archive: string, historian: string, id: string): string {
  return join(archive, historianFolder(historian), id)
}

const DIGITS = 16
const NAME = /^(\d{16})-(\d{16})-([0-9a-f]{8})-([0-9a-f]{8})\.log$/

/** Names sort as their records do. */
export function archiveName({ firstSequence, lastSequence, token, segment }: ArchiveName): string {
  const range = [firstSequence, lastSequence].map((number) => String(number).padStart(DIGITS, '0'))
  return `${range.join('-')}-${tokenText(token)}-${tokenText(segment)}.log`
}

/** `null` for a name that is none. */
export function parseArchiveName(name: string): ArchiveName | null {
  const match = NAME.exec(name)
  if (match === null) return null
  return {
    firstSequence: Number(match[1]),
    lastSequence: Number(match[2]),
    token: Number.parseInt(match[3]!, 16),
    segment: Number.parseInt(match[4]!, 16),
  }
}

export function encodeArchiveHeader(header: ArchiveHeader): Uint8Array {
  const bytes = Buffer.alloc(ARCHIVE_HEADER_BYTES)
  MAGIC.copy(bytes)
  bytes.write(header.id, 8, 'hex')
  bytes.writeDoubleLE(header.firstSequence, 24)
  bytes.writeDoubleLE(header.lastSequence, 32)
  bytes.writeDoubleLE(header.firstTime, 40)
  bytes.writeDoubleLE(header.lastTime, 48)
  bytes.writeDoubleLE(header.bytes, 56)
  bytes.writeUInt32LE(header.token, 64)
  bytes.writeUInt32LE(header.segment, 68)
  bytes.writeUInt32LE(header.checksum, 72)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 76)), 76)
  return bytes
}

/** Throws Damage. */
export function decodeArchiveHeader(from: Uint8Array): ArchiveHeader {
  const bytes = Buffer.from(from.buffer, from.byteOffset, from.length)
  const isOne = bytes.length >= ARCHIVE_HEADER_BYTES && bytes.subarray(0, 8).equals(MAGIC)
  if (!isOne) throw new Damage('it does not begin as an archived segment')
  if (crc32(bytes.subarray(0, 76)) !== bytes.readUInt32LE(76)) {
    throw new Damage('the checksum of its header is wrong')
  }
  return {
    id: bytes.toString('hex', 8, 24),
    firstSequence: bytes.readDoubleLE(24),
    lastSequence: bytes.readDoubleLE(32),
    firstTime: bytes.readDoubleLE(40),
    lastTime: bytes.readDoubleLE(48),
    bytes: bytes.readDoubleLE(56),
    token: bytes.readUInt32LE(64),
    segment: bytes.readUInt32LE(68),
    checksum: bytes.readUInt32LE(72),
  }
}

/** Up to where an archive has everything. */
export interface ArchiveMark {
  /** Number of the last record that was committed until then. */
  readonly lastSequence: number
  /** All that was committed until then is there; microseconds since 1970. */
  readonly until: number
}

/**
 * Name of the file with the mark, which is replaced again and again: u32 0x314b4d54, u32 0, f64 number of the last
 * record, f64 time, u32 CRC-32 of the bytes before, u32 0.
 */
export const MARK_NAME = 'archived-until'
const MARK_MAGIC = 0x314b4d54
const MARK_BYTES = 32

export function encodeMark({ lastSequence, until }: ArchiveMark): Uint8Array {
  const bytes = Buffer.alloc(MARK_BYTES)
  bytes.writeUInt32LE(MARK_MAGIC, 0)
  bytes.writeDoubleLE(lastSequence, 8)
  bytes.writeDoubleLE(until, 16)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 24)), 24)
  return bytes
}

/** `null` for one that cannot be read: nothing is known then but what the segments say. */
export function decodeMark(from: Uint8Array): ArchiveMark | null {
  const bytes = Buffer.from(from.buffer, from.byteOffset, from.length)
  if (bytes.length < MARK_BYTES || bytes.readUInt32LE(0) !== MARK_MAGIC) return null
  if (crc32(bytes.subarray(0, 24)) !== bytes.readUInt32LE(24)) return null
  const [lastSequence, until] = [bytes.readDoubleLE(8), bytes.readDoubleLE(16)]
  return Number.isSafeInteger(lastSequence) && Number.isFinite(until) ? { lastSequence, until } : null
}
