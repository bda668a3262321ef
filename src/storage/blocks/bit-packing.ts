import { Damage } from '../damage.ts'
import type { ByteReader, ByteWriter } from './varint.ts'

/**
 * Bit packing of whole numbers near zero, in groups of GROUP: of each group a byte with its width w in bits, then each
 * number in offset binary (plus 2^(w - 1)) in so many bits, the lowest first, up to the next whole byte. A width is at
 * most MOST_BITS, so that each number lies in four bytes wherever it begins; 0 is that of a group of zeros.
 */
export const GROUP = 64
const MOST_BITS = 24
/** Bytes of a group of the greatest width. */
const MOST_BYTES = (GROUP * MOST_BITS) / 8

/** What packed numbers are to take at most, of what they take as varints: picking some of them costs somewhat more. */
const WORTH = 7 / 8

/** Widths of the groups that were measured last. */
let widths = new Uint8Array(8)

/** Whether the first `count` numbers are to be packed rather than to take so many bytes. Follow with `putPacked`. */
export function isWorthPacking(numbers: Float64Array, count: number, bytes: number): boolean {
  return packedBytes(numbers, count) <= WORTH * bytes
}

/** Bytes of the first `count` numbers, packed; Infinity where one is too large. Leaves `widths` behind. */
function packedBytes(numbers: Float64Array, count: number): number {
  const groups = Math.ceil(count / GROUP)
  if (widths.length < groups) widths = new Uint8Array(groups)
  let bytes = 0
  for (let group = 0; group < groups; group++) {
    const end = Math.min(count, (group + 1) * GROUP)
    // Zigzags need as many bits as offset binary, and all of them together those of the widest.
    let zigzags = 0
    for (let i = group * GROUP; i < end; i++) {
      const number = numbers[i]!
      const whole = number | 0
      if (whole !== number) return Number.POSITIVE_INFINITY
      zigzags |= (whole << 1) ^ (whole >> 31)
    }
    const width = 32 - Math.clz32(zigzags)
    if (width > MOST_BITS) return Number.POSITIVE_INFINITY
    widths[group] = width
    bytes += 1 + groupBytes(end - group * GROUP, width)
  }
  return bytes
}

function groupBytes(count: number, width: number): number {
  return (count * width + 7) >>> 3
}

/** Writes the numbers that `isWorthPacking` was asked about last. */
export function putPacked(writer: ByteWriter, numbers: Float64Array, count: number): void {
  const { bytes } = writer
  let at = writer.length
  for (let first = 0, group = 0; first < count; first += GROUP, group++) {
    const width = widths[group]!
    bytes[at++] = width
    if (width === 0) continue
    const end = Math.min(count, first + GROUP)
    const offset = 1 << (width - 1)
    let bits = 0
    let waiting = 0
    for (let i = first; i < end; i++) {
      // Fewer than 8 bits wait: with these they are at most 31.
      bits |= ((numbers[i]! | 0) + offset) << waiting
      for (waiting += width; waiting >= 8; waiting -= 8) {
        bytes[at++] = bits
        bits >>>= 8
      }
    }
    if (waiting > 0) bytes[at++] = bits
  }
  writer.length = at
}

/** Of differences so many may go the other way: restarts of a counter. */
const RESTARTS = 1 / 16

/**
 * What is taken from all differences, at least one, before they are packed: 0 where they go up and down, otherwise the
 * median of a few. A mean would be far off after one long gap, or one restart of a counter.
 * @param rises, falls  how many of them are above and below 0
 */
export function usualOf(differences: Float64Array, count: number, rises: number, falls: number): number {
  return Math.min(rises, falls) <= RESTARTS * count ? medianOf(differences, count) : 0
}

/** The median of some of the first `count` numbers, at least one. */
export function medianOf(numbers: Float64Array, count: number): number {
  const sample = new Float64Array(Math.min(9, count))
  for (let i = 0; i < sample.length; i++) sample[i] = numbers[Math.floor((i * count) / sample.length)]!
  return sample.sort()[sample.length >> 1]!
}

/** Reads packed numbers a group at a time. One is opened again and again. */
export class PackedReader {
  /** Numbers of the group that was read last. */
  readonly numbers = new Int32Array(GROUP)
  #view: DataView<ArrayBufferLike> = new DataView(new ArrayBuffer(0))
  /** A group at the very end of memory, with bytes behind it that may be looked at. */
  readonly #tail = new Uint8Array(MOST_BYTES + 4)
  readonly #tailView = new DataView(this.#tail.buffer)
  /** The group that the reader has passed: its numbers, the bits of each, and where they begin. */
  #count = 0
  #width = 0
  #at = 0
  #in = this.#view

  /** Looks at the memory of a reader. */
  open({ bytes }: ByteReader): this {
    const view = this.#view
    const { buffer, byteOffset, length } = bytes
    if (view.buffer !== buffer || view.byteOffset !== byteOffset || view.byteLength !== length) {
      this.#view = new DataView(buffer, byteOffset, length)
    }
    return this
  }

  /** Reads the next group, of 1 to GROUP numbers, at which a reader stands. Throws Damage. */
  read(reader: ByteReader, count: number): void {
    this.pass(reader, count)
    this.unpack()
  }

  /** Moves a reader behind the next group, which `unpack` and `sum` then are about. Throws Damage. */
  pass(reader: ByteReader, count: number): void {
    const width = reader.byte()
    if (width > MOST_BITS) throw new Damage('the packed numbers of a block are too wide')
    const { at } = reader
    const bytes = groupBytes(count, width)
    reader.at = at + bytes
    if (reader.at > reader.end) throw new Damage('a block ends too early')
    this.#count = count
    this.#width = width
    this.#at = at
    this.#in = this.#view
    if (at + bytes + 4 <= this.#view.byteLength) return
    this.#tail.set(reader.bytes.subarray(at, at + bytes))
    this.#at = 0
    this.#in = this.#tailView
  }

  unpack(): void {
    const { numbers } = this
    const count = this.#count
    const width = this.#width
    if (width === 0) {
      numbers.fill(0, 0, count)
      return
    }
    const view = this.#in
    const mask = (1 << width) - 1
    const offset = 1 << (width - 1)
    for (let i = 0, bit = this.#at << 3; i < count; i++, bit += width) {
      numbers[i] = ((view.getInt32(bit >>> 3, true) >>> (bit & 7)) & mask) - offset
    }
  }

  /** Sum of the group's numbers, within 32 bits. */
  sum(): number {
    const width = this.#width
    if (width === 0) return 0
    const count = this.#count
    const view = this.#in
    const mask = (1 << width) - 1
    let sum = 0
    for (let i = 0, bit = this.#at << 3; i < count; i++, bit += width) {
      sum = (sum + ((view.getInt32(bit >>> 3, true) >>> (bit & 7)) & mask)) | 0
    }
    return sum - (count << (width - 1))
  }
}
