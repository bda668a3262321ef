import { Damage } from '../damage.ts'

/** Whole numbers are written as varints up to here (excluded); signed ones up to half of it. */
export const VARINT_LIMIT = 2 ** 53

/** Signed numbers from -INT_LIMIT to INT_LIMIT (excluded) are written in 32 bits, which is faster. */
export const INT_LIMIT = 2 ** 30

/** Writes a signed number within INT_LIMIT as ByteWriter.putSigned does; gives where it ends. */
export function putSignedInt(bytes: Uint8Array, start: number, value: number): number {
  let at = start
  let rest = (value << 1) ^ (value >> 31)
  for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128
  bytes[at++] = rest
  return at
}

/**
 * Bytes that grow at the end, of a fixed capacity that whoever writes knows to suffice. Numbers are little-endian;
 * varints hold 7 bits a byte, the lowest first, with the high bit set in all but the last byte; signed ones are zigzag:
 * 0, -1, 1, -2, 2 ...
 */
export class ByteWriter {
  readonly bytes: Uint8Array
  length = 0
  readonly #double = new Float64Array(1)
  readonly #doubleBytes = new Uint8Array(this.#double.buffer)

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity)
  }

  putByte(value: number): void {
    this.bytes[this.length++] = value
  }

  /** @param value  whole, from 0 to VARINT_LIMIT (excluded) */
  putVarint(value: number): void {
    const { bytes } = this
    let at = this.length
    let rest = value
    for (; rest >= 0x4000_0000; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128
    for (; rest >= 128; rest >>>= 7) bytes[at++] = (rest & 127) | 128
    bytes[at++] = rest
    this.length = at
  }

  /** @param value  whole, of a size below VARINT_LIMIT / 2 */
  putSigned(value: number): void {
    if (value < INT_LIMIT && value >= -INT_LIMIT)
      this.length = putSignedInt(this.bytes, this.length, value | 0)
    else this.putVarint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  putDouble(value: number): void {
    this.#double[0] = value
    this.bytes.set(this.#doubleBytes, this.length)
    this.length += 8
  }

  putBytes(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** Moves what was written from `from` on to `to`, dropping what lies between. */
  drop(to: number, from: number): void {
    this.bytes.copyWithin(to, from, this.length)
    this.length -= from - to
  }
}

/**
 * Reads what ByteWriter wrote, up to `end`. Reading beyond the end gives zeros and no error, so that loops need not
 * look; whoever reads asks `finish` afterwards. All loops over what is read are bounded by the number of points.
 */
export class ByteReader {
  bytes: Uint8Array = new Uint8Array(0)
  at = 0
  end = 0
  readonly #double = new Float64Array(1)
  readonly #doubleBytes = new Uint8Array(this.#double.buffer)

  open(bytes: Uint8Array, at: number, end: number): this {
    this.bytes = bytes
    this.at = at
    this.end = end
    return this
  }

  byte(): number {
    return this.bytes[this.at++] ?? 0
  }

  varint(): number {
    const { bytes } = this
    let byte = bytes[this.at++] ?? 0
    let value = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      // The eighth byte holds the last bits of what is below VARINT_LIMIT.
      if (scale > 2 ** 49) throw new Damage('a number in a block is too long')
      byte = bytes[this.at++] ?? 0
      value += (byte & 127) * scale
    }
    return value
  }

  signed(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  double(): number {
    for (let i = 0; i < 8; i++) this.#doubleBytes[i] = this.bytes[this.at++] ?? 0
    return this.#double[0]!
  }

  /** Throws Damage when more was read than there is. */
  finish(): void {
    if (this.at > this.end) throw new Damage('a block ends too early')
  }
}
