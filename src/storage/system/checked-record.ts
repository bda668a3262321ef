import { crc32 } from 'node:zlib'

const CHECKSUM = /^\{"crc":(\d+),/

/**
 * A record as JSON with a checksum of itself and of what it stands under: SQLite has none, and a flipped bit in a text
 * is another text. @param under  the record's place in the database
 */
export function encodeRecord(under: Uint8Array, record: object): string {
  const text = JSON.stringify(record)
  return `{"crc":${checksumOf(under, text)},${text.slice(1)}`
}

/**
 * The record, `null` for one that is damaged.
 * @param first  its first field: a record that begins with it has no checksum, as those of earlier versions
 */
export function decodeRecord(under: Uint8Array, text: string, first: string): unknown {
  const found = CHECKSUM.exec(text)
  if (found === null && !text.startsWith(`{"${first}":`)) return null
  const bare = found === null ? text : `{${text.slice(found[0].length)}`
  if (found !== null && Number(found[1]) !== checksumOf(under, bare)) return null
  try {
    return JSON.parse(bare)
  } catch {
    return null
  }
}

const checksumOf = (under: Uint8Array, text: string) => crc32(text, crc32(under))
