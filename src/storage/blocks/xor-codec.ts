import { Damage } from '../damage.ts'
import type { ByteReader, ByteWriter } from './varint.ts'

/**
 * Doubles as the bytes of each that differ from those of the one before: a byte with the number of equal bytes at the
 * high end times 16, plus the number of bytes that follow, highest first. The equal bytes at the low end are left out.
 * A double is two words here: V8 waits for bytes that are written one by one and read together.
 */
const BYTES = 8

const double = new Float64Array(1)
const words = new Uint32Array(double.buffer)

/** By control byte, which bits of the two words come from the bytes that follow. */
const HIGH_MASKS = new Int32Array(256)
const LOW_MASKS = new Int32Array(256)
for (let control = 0; control < 256; control++) {
  const equal = control >>> 4
  for (let k = equal; k < Math.min(equal + (control & 15), BYTES); k++) {
    if (k < 4) HIGH_MASKS[control]! |= 0xff << (24 - 8 * k)
    else LOW_MASKS[control]! |= 0xff << (56 - 8 * k)
  }
}

export function encodeXor(writer: ByteWriter, values: Float64Array, start: number, end: number): void {
  const { bytes } = writer
  let at = writer.length
  let high = 0
  let low = 0
  for (let i = start; i < end; i++) {
    double[0] = values[i]!
    const nextLow = words[0]!
    const nextHigh = words[1]!
    const changedHigh = high ^ nextHigh
    const changedLow = low ^ nextLow
    high = nextHigh
    low = nextLow
    if (changedHigh === 0 && changedLow === 0) {
      bytes[at++] = BYTES << 4
      continue
    }
    const equal = changedHigh === 0 ? 4 + (Math.clz32(changedLow) >>> 3) : Math.clz32(changedHigh) >>> 3
    const equalEnd = changedLow === 0 ? 4 + zeroBytes(changedHigh) : zeroBytes(changedLow)
    bytes[at++] = (equal << 4) | (BYTES - equal - equalEnd)
    for (let k = equal; k < BYTES - equalEnd; k++)
      bytes[at++] = k < 4 ? nextHigh >>> (24 - 8 * k) : nextLow >>> (56 - 8 * k)
  }
  writer.length = at
}

/** Bytes of zeros at the low end of a word that is not 0. */
function zeroBytes(word: number): number {
  return (31 - Math.clz32(word & -word)) >>> 3
}

/** Reads `count` values into `target` from index `to` on. Throws Damage. */
export function decodeXor(reader: ByteReader, count: number, target: Float64Array, to: number): void {
  const { bytes } = reader
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const targetWords = new Int32Array(target.buffer, target.byteOffset + BYTES * to, 2 * count)
  const wholeUpTo = bytes.length - BYTES
  let { at } = reader
  let high = 0
  let low = 0
  for (let i = 0; i < count; i++) {
    const control = bytes[at++] ?? 0
    const equal = control >>> 4
    const length = control & 15
    if (equal + length > BYTES) throw new Damage('the values of a block contradict themselves')
    if (length > 0) {
      // What follows, moved to where it belongs; what is read beyond it is masked.
      const first = at <= wholeUpTo ? view.getUint32(at) : wordAt(bytes, at)
      const second = at <= wholeUpTo ? view.getUint32(at + 4) : wordAt(bytes, at + 4)
      const shift = 8 * equal
      let movedHigh = first
      let movedLow = second
      if (shift >= 32) {
        movedHigh = 0
        movedLow = first >>> (shift - 32)
      } else if (shift > 0) {
        movedHigh = first >>> shift
        movedLow = (second >>> shift) | (first << (32 - shift))
      }
      high ^= (high ^ movedHigh) & HIGH_MASKS[control]!
      low ^= (low ^ movedLow) & LOW_MASKS[control]!
      at += length
    }
    targetWords[2 * i] = low
    targetWords[2 * i + 1] = high
  }
  reader.at = at
}

/** Four bytes, zeros beyond the end. */
function wordAt(bytes: Uint8Array, at: number): number {
  let word = 0
  for (let k = 0; k < 4; k++) word = (word << 8) | (bytes[at + k] ?? 0)
  return word
}
