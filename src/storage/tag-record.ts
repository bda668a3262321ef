import { crc32 } from 'node:zlib'
import { Damage } from './damage.ts'
import type { Bytes } from './environment.ts'

/** What is stored of a tag besides its points. */
export interface TagRecord {
  /** Never given to another tag. */
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly units: string | null
  readonly stepped: boolean
}

/** Longest description or units, in UTF-16 units: a record then stays far below what lmdb-js hands out in one piece. */
export const MAX_TEXT_UNITS = 100_000

const RECORD_VERSION = 1
const HEADER_BYTES = 16
const STEPPED = 1
const HAS_DESCRIPTION = 2
const HAS_UNITS = 4
/** The texts are UTF-16 instead of UTF-8, because one of them holds lone surrogates. */
const UTF16 = 8

/**
 * A record as bytes, little-endian: u8 version 1, u8 flags, u16 bytes of the name, u32 CRC-32 of the whole record with 0 in this
 * place, u32 bytes of the description, u32 bytes of the units, then the three texts.
 */
export function encodeTagRecord({ name, description, units, stepped }: Omit<TagRecord, 'id'>): Buffer {
  const texts = [name, description ?? '', units ?? '']
  const encoding = texts.every((text) => text.isWellFormed()) ? 'utf8' : 'utf16le'
  const parts = texts.map((text) => Buffer.from(text, encoding))
  const record = Buffer.concat([Buffer.alloc(HEADER_BYTES), ...parts])
  record[0] = RECORD_VERSION
  record[1] =
    (stepped ? STEPPED : 0) |
    (description === null ? 0 : HAS_DESCRIPTION) |
    (units === null ? 0 : HAS_UNITS) |
    (encoding === 'utf8' ? 0 : UTF16)
  record.writeUInt16LE(parts[0]!.length, 2)
  record.writeUInt32LE(parts[1]!.length, 8)
  record.writeUInt32LE(parts[2]!.length, 12)
  record.writeUInt32LE(crc32(record), 4)
  return record
}

/**
 * Throws Damage when the bytes are no record.
 * @param verify  whether the checksum is looked at; a search over all tags leaves that to whoever reads the tag
 */
export function decodeTagRecord(id: number, bytes: Bytes, verify = true): TagRecord {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (record.length < HEADER_BYTES) throw new Damage(`the record of tag ${id} is too short`)
  if (record[0] !== RECORD_VERSION) {
    throw new Damage(`the record of tag ${id} has the unknown version ${record[0]}`)
  }
  if (verify) verifyChecksum(id, record)
  const flags = record[1]!
  const encoding = flags & UTF16 ? 'utf16le' : 'utf8'
  const nameEnd = HEADER_BYTES + record.readUInt16LE(2)
  const descriptionEnd = nameEnd + record.readUInt32LE(8)
  const unitsEnd = descriptionEnd + record.readUInt32LE(12)
  if (unitsEnd !== record.length) throw new Damage(`the record of tag ${id} contradicts itself`)
  return {
    id,
    name: record.toString(encoding, HEADER_BYTES, nameEnd),
    description: flags & HAS_DESCRIPTION ? record.toString(encoding, nameEnd, descriptionEnd) : null,
    units: flags & HAS_UNITS ? record.toString(encoding, descriptionEnd, unitsEnd) : null,
    stepped: (flags & STEPPED) !== 0,
  }
}

function verifyChecksum(id: number, record: Buffer): void {
  const checksum = record.readUInt32LE(4)
  // The bytes are a copy of ours: see environment.ts.
  record.writeUInt32LE(0, 4)
  const actual = crc32(record)
  record.writeUInt32LE(checksum, 4)
  if (actual !== checksum) throw new Damage(`the checksum of the record of tag ${id} is wrong`)
}
