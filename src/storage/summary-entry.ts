import { Damage } from './damage.ts'
import type { Bytes } from './environment.ts'
import { OLD_STRETCH_BYTES, readStretch, type Stretch } from './stretch.ts'

/**
 * Entries of `summaries` as format 1 had them: one for every block but tails, under the same key. They are read once, to make pages
 * (summary-page.ts) of them.
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
const ENTRY_BYTES = HEADER_BYTES + OLD_STRETCH_BYTES

/** Scratch for an entry, aligned. */
const scratch = new Float64Array(ENTRY_BYTES / 8)
const scratchBytes = new Uint8Array(scratch.buffer)
const scratchWords = new Uint32Array(scratch.buffer)
/** FNV-1a with words in place of bytes, over the entry in scratch with 0 for the checksum. */
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
  for (let i = 0; i < size; i++) scratchBytes[i] = value[i]!
  if (checksum(size) !== scratchWords[1]) throw new Damage('the checksum of a summary is wrong')
  if (scratchBytes[0] !== ENTRY_VERSION) {
    throw new Damage(`a summary has the unknown version ${scratchBytes[0]}`)
  }
  if ((scratchBytes[1] === 1) !== (size === ENTRY_BYTES)) throw new Damage('a summary contradicts itself')
  return size === ENTRY_BYTES ? readStretch(scratch, 1, false) : null
}
