import { Damage } from '../damage.ts'
import { POWERS } from './value-codec.ts'
import { ByteReader } from './varint.ts'

/**
 * Some of the values of a chunk whose values are decimals without exceptions (VALUES.decimals), in ascending order of
 * index: those between are added up and not made, four at a time where each is one byte.
 */
export class DecimalWalk {
  #view: DataView<ArrayBufferLike> = new DataView(new ArrayBuffer(0))
  /** For numbers of more than three bytes and at the end of memory. */
  readonly #reader = new ByteReader()
  #power = 1
  #at = 0
  /** Index of the value in hand; -1 before the first. */
  #index = -1
  #multiple = 0
  /** The multiple before. */
  #previous = 0

  /**
   * Begins with the values at which a reader stands; false, and the reader stays, when there are exceptions among them.
   * Throws Damage.
   */
  open(reader: ByteReader, decimals: number): boolean {
    const { bytes, at, end } = reader
    if (reader.varint() !== 0) {
      reader.at = at
      return false
    }
    if (this.#view.buffer !== bytes.buffer || this.#view.byteOffset !== bytes.byteOffset) {
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    }
    const power = POWERS[decimals]
    if (power === undefined) throw new Damage('the values of a block have an unknown scale')
    this.#reader.open(bytes, reader.at, end)
    this.#power = power
    this.#at = reader.at
    this.#index = -1
    this.#multiple = 0
    this.#previous = 0
    return true
  }

  /** @param index  at most one less than the greatest one that was asked for before, and an index of the chunk */
  valueAt(index: number): number {
    if (index < this.#index) return this.#previous / this.#power
    if (index > this.#index) this.#advance(index)
    return this.#multiple / this.#power
  }

  #advance(index: number): void {
    const view = this.#view
    const last = view.byteLength - 4
    let left = index - this.#index
    let at = this.#at
    // Differences of up to three bytes, of which a chunk has too few to leave the range of 32 bits.
    let sum = 0
    let beforeLast = 0
    while (left > 0) {
      if (left === 1) beforeLast = sum
      const word = at <= last ? view.getInt32(at, true) : -1
      if ((word & 0x80808080) === 0 && left > 4) {
        // In each byte: 64 more than the difference, from 0 to 127.
        const signs = word & 0x01010101
        const raised = ((word >>> 1) & 0x3f3f3f3f) ^ ((signs << 7) - signs) ^ 0x40404040
        const pairs = (raised & 0x00ff00ff) + ((raised >>> 8) & 0x00ff00ff)
        sum += (pairs & 0xffff) + (pairs >>> 16) - 256
        at += 4
        left -= 4
        continue
      }
      let zigzag: number
      if ((word & 0x80) === 0) {
        zigzag = word & 0x7f
        at++
      } else if ((word & 0x8000) === 0) {
        zigzag = (word & 0x7f) | ((word >>> 1) & 0x3f80)
        at += 2
      } else if ((word & 0x800000) === 0) {
        zigzag = (word & 0x7f) | ((word >>> 1) & 0x3f80) | ((word >>> 2) & 0x1fc000)
        at += 3
      } else {
        this.#reader.at = at
        const difference = this.#reader.signed()
        at = this.#reader.at
        // Apart from the sum, which counts all before it.
        if (left === 1) {
          this.#previous = this.#multiple + beforeLast
          this.#multiple = this.#previous + difference
          this.#end(index, at)
          return
        }
        this.#multiple += difference
        left--
        continue
      }
      sum = (sum + ((zigzag >>> 1) ^ -(zigzag & 1))) | 0
      left--
    }
    this.#previous = this.#multiple + beforeLast
    this.#multiple += sum
    this.#end(index, at)
  }

  #end(index: number, at: number): void {
    this.#index = index
    this.#at = at
    if (at > this.#reader.end) throw new Damage('a block ends too early')
  }
}
