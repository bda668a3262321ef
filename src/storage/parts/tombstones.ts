import { Damage } from '../damage.ts'
import { addChecksum, aligned } from './page-checksum.ts'
import type { TombstoneColumns } from './tombstone-columns.ts'
import { TombstoneList } from './tombstone-list.ts'

/**
 * The tombstones of a part, sorted by tag and then by sequence.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 x 3 | 0 |
 * | 4 | u32 | CRC-32 of all with 0 in this place |
 * | 8 | u32 | n, number of tombstones |
 * | 12 | u32 | 0 |
 * | 16 | f64 x n | where they begin (included), or -Infinity |
 * | | f64 x n | where they end (excluded), or Infinity |
 * | | f64 x n | their sequence numbers |
 * | | u32 x n | ids of the tags, zeros up to a multiple of 8 bytes |
 */
const VERSION = 1
const HEADER_BYTES = 16

function sizeOf(count: number): number {
  return aligned(HEADER_BYTES + 28 * count)
}

/** @param columns  sorted by tag and then by sequence */
export function encodeTombstones({ tags, from, to, sequences }: TombstoneColumns): Uint8Array<ArrayBuffer> {
  const count = tags.length
  const page = new Uint8Array(sizeOf(count))
  const doubles = new Float64Array(page.buffer)
  const words = new Uint32Array(page.buffer)
  page[0] = VERSION
  words[2] = count
  const at = HEADER_BYTES >> 3
  doubles.set(from, at)
  doubles.set(to, at + count)
  doubles.set(sequences, at + 2 * count)
  words.set(tags, (HEADER_BYTES + 24 * count) >> 2)
  addChecksum(page)
  return page
}

/** @param page  verified, in memory of its own, which the list goes on using. Throws Damage. */
export function decodeTombstones(page: Uint8Array<ArrayBuffer>): TombstoneList {
  if (page.length < HEADER_BYTES || page.length % 8 !== 0 || page[0] !== VERSION) {
    throw new Damage('tombstones are written in an unknown way')
  }
  const doubles = new Float64Array(page.buffer, page.byteOffset, page.length >> 3)
  const words = new Uint32Array(page.buffer, page.byteOffset, page.length >> 2)
  const count = words[2]!
  if (sizeOf(count) !== page.length) throw new Damage('tombstones do not fit their size')
  const at = HEADER_BYTES >> 3
  const tags = (HEADER_BYTES + 24 * count) >> 2
  const list = new TombstoneList({
    tags: words.subarray(tags, tags + count),
    from: doubles.subarray(at, at + count),
    to: doubles.subarray(at + count, at + 2 * count),
    sequences: doubles.subarray(at + 2 * count, at + 3 * count),
  })
  if (!list.isInOrder) throw new Damage('tombstones are not in their order')
  return list
}
