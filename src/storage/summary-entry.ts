import type { Arena } from './arena.ts'
import { Damage } from './damage.ts'
import type { Bytes } from './environment.ts'
import { readStretch, STRETCH_BYTES, type Stretch, writeStretch } from './stretch.ts'

/**
 * Entries of `summaries`: one for every block but tails, under the same key, so that reads over long times need not touch blocks.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 | 1 with a summary, 0 without: then the points of the block have to be read |
 * | 2 | u16 | 0 |
 * | 4 | u32 | checksum of the entry with 0 in this place (below) |
 * | 8 | f64 × 15 | summary (stretch.ts), if there is one |
 */
const ENTRY_VERSION = 1
const HEADER_BYTES = 8
const ENTRY_BYTES = HEADER_BYTES + STRETCH_BYTES

/** @param stretch  `null` for a block without a summary */
export function encodeSummary(arena: Arena, stretch: Stretch | null): Bytes {
  const size = stretch === null ? HEADER_BYTES : ENTRY_BYTES
  const { bytes, doubles, offset } = arena.allocate(size)
  const entry = bytes.subarray(offset, offset + size)
  entry.fill(0, 0, HEADER_BYTES)
  entry[0] = ENTRY_VERSION
  entry[1] = stretch === null ? 0 : 1
  if (stretch !== null) writeStretch(doubles, (offset >> 3) + 1, stretch)
  scratchBytes.set(entry)
  scratchWords[1] = checksum(size)
  entry.set(scratchBytes.subarray(4, 8), 4)
  return entry
}

/** Scratch for an entry, aligned. */
const scratch = new Float64Array(ENTRY_BYTES / 8)
const scratchBytes = new Uint8Array(scratch.buffer)
const scratchWords = new Uint32Array(scratch.buffer)
/** The buffer that the last entry was read from, which lmdb-js hardly ever changes, as words. */
let viewed: ArrayBufferLike | null = null
let words: Uint32Array<ArrayBufferLike> = new Uint32Array(0)

/**
 * FNV-1a with words in place of bytes, over the entry in scratch with 0 for the checksum. Thousands of entries are read in a
 * millisecond, and a call out of JavaScript for each would take as long as all the rest. Finds every damage within one word.
 */
function checksum(size: number): number {
  let hash = 0x811c9dc5
  const words = size >> 2
  for (let i = 0; i < words; i++) hash = Math.imul(hash ^ (i === 1 ? 0 : scratchWords[i]!), 0x01000193)
  return hash >>> 0
}

/** The summary of a block; `null` for one without. Throws Damage. */
export function decodeSummary(value: Bytes): Stretch | null {
  const size = value.length
  if (size !== HEADER_BYTES && size !== ENTRY_BYTES) throw new Damage('a summary has a wrong size')
  // The value lies at the front of a longer buffer: see environment.ts.
  if ((value.byteOffset & 3) !== 0) for (let i = 0; i < size; i++) scratchBytes[i] = value[i]!
  else {
    if (value.buffer !== viewed) {
      viewed = value.buffer
      words = new Uint32Array(viewed, 0, viewed.byteLength >> 2)
    }
    const from = value.byteOffset >> 2
    for (let i = 0; i < size >> 2; i++) scratchWords[i] = words[from + i]!
  }
  if (checksum(size) !== scratchWords[1]) throw new Damage('the checksum of a summary is wrong')
  if (scratchBytes[0] !== ENTRY_VERSION) {
    throw new Damage(`a summary has the unknown version ${scratchBytes[0]}`)
  }
  if ((scratchBytes[1] === 1) !== (size === ENTRY_BYTES)) throw new Damage('a summary contradicts itself')
  return size === ENTRY_BYTES ? readStretch(scratch, 1) : null
}
