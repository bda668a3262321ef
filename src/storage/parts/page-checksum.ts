import { crc32 } from 'node:zlib'

/** All pages of a part, and its compressed blocks, have their CRC-32 here, computed with 0 in this place. */
const CHECKSUM_AT = 4

function checksumOf(page: Uint8Array): number {
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  const stored = view.getUint32(CHECKSUM_AT, true)
  view.setUint32(CHECKSUM_AT, 0, true)
  const checksum = crc32(page)
  view.setUint32(CHECKSUM_AT, stored, true)
  return checksum
}

/** Fills in the checksum of a page that is complete. */
export function addChecksum(page: Uint8Array): void {
  const checksum = checksumOf(page)
  new DataView(page.buffer, page.byteOffset, page.byteLength).setUint32(CHECKSUM_AT, checksum, true)
}

/** Whether a page, in memory that may be written to, fits its checksum. */
export function isSound(page: Uint8Array): boolean {
  if (page.length < CHECKSUM_AT + 4) return false
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  return checksumOf(page) === view.getUint32(CHECKSUM_AT, true)
}

/** Bytes rounded up to a multiple of 8, of any whole number: what pages say of themselves may be wrong by far. */
export function aligned(bytes: number): number {
  return 8 * Math.ceil(bytes / 8)
}
