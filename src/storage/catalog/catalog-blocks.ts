import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import type { FileHandle } from '../files/files.ts'

/**
 * A file of the catalog: 16 bytes of header (8 bytes of a name, u32 format, u32 CRC-32 of these 12 bytes), then blocks
 * of changes one behind the other, each u32 bytes of the changes, u32 CRC-32 of them that begins with the block's
 * place, and the changes (tag-changes.ts). Numbers are little-endian. See docs/formats/catalog-v1.md.
 */
const FORMAT = 1
const NAME = Buffer.from('TIDETAGS')
export const HEADER_BYTES = 16
const BLOCK_HEADER_BYTES = 8
/** Longer ones are never written: a block is ended when it is a small part of that. */
const MOST_BLOCK_BYTES = 1 << 28

export function fileHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  NAME.copy(header)
  header.writeUInt32LE(FORMAT, 8)
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12)
  return header
}

/** Changes as the block that begins at a place of the file. */
export function blockOf(changes: Uint8Array, at: number): Buffer {
  const block = Buffer.allocUnsafe(BLOCK_HEADER_BYTES + changes.length)
  block.writeUInt32LE(changes.length, 0)
  block.writeUInt32LE(checksum(changes, at), 4)
  block.set(changes, BLOCK_HEADER_BYTES)
  return block
}

/**
 * Hands the changes of all blocks over, in order. A block of which the changes are damaged is reported and skipped;
 * nothing behind damage to its length can be found.
 * @param bytes  of the file that count
 * @param take   must be done with the changes when it returns, and is told where their block ends; may throw Damage
 */
export async function readBlocks(
  file: FileHandle,
  bytes: number,
  take: (changes: Uint8Array, end: number) => void,
  damaged: (damage: Damage) => void,
): Promise<void> {
  const size = file.size()
  if (size < bytes) damaged(new Damage(`the catalog has ${size} bytes instead of ${bytes}`))
  const header = Buffer.alloc(HEADER_BYTES)
  await file.read(header, 0)
  if (header.compare(fileHeader()) !== 0) damaged(new Damage(headerDamage(header)))
  let changes = Buffer.alloc(0)
  const blockHeader = Buffer.alloc(BLOCK_HEADER_BYTES)
  for (let at = HEADER_BYTES; at < bytes; ) {
    const found = await file.read(blockHeader, at)
    const length = blockHeader.readUInt32LE(0)
    const end = at + BLOCK_HEADER_BYTES + length
    if (found < BLOCK_HEADER_BYTES || length > MOST_BLOCK_BYTES || end > Math.min(bytes, size)) {
      damaged(new Damage(`the block at ${at} of the catalog does not end in it`))
      return
    }
    if (changes.length < length) changes = Buffer.allocUnsafe(Math.max(length, 2 * changes.length))
    const block = changes.subarray(0, length)
    const read = await file.read(block, at + BLOCK_HEADER_BYTES)
    if (read < length || checksum(block, at) !== blockHeader.readUInt32LE(4)) {
      damaged(new Damage(`the checksum of the block at ${at} of the catalog is wrong`))
    } else takeOrTell(() => take(block, end), damaged)
    at = end
  }
}

function takeOrTell(take: () => void, damaged: (damage: Damage) => void): void {
  try {
    take()
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    damaged(error)
  }
}

function headerDamage(header: Buffer): string {
  const isWhole =
    header.subarray(0, 8).equals(NAME) && header.readUInt32LE(12) === crc32(header.subarray(0, 12))
  return isWhole
    ? `the catalog has the unknown format ${header.readUInt32LE(8)}`
    : 'the header of the catalog is damaged'
}

/** A block that stands at another place than it was written for is damaged, too. */
function checksum(changes: Uint8Array, at: number): number {
  return crc32(changes, at >>> 0)
}
