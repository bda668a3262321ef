import { Damage } from '../damage.ts'
import { addChecksum, aligned } from './page-checksum.ts'

/**
 * A set of tag ids, read as it stands in the file. Ids with the same upper 16 bits share a container: a sorted array of
 * the lower 16 bits, or a bitmap of 8,192 bytes where that is smaller.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 x 3 | 0 |
 * | 4 | u32 | CRC-32 of the set with 0 in this place |
 * | 8 | u32 | n, number of containers |
 * | 12 | u32 | number of ids |
 * | 16 | u32 x 2 x n | of each container the upper 16 bits, and its number of ids |
 * | | | the containers: u16 each id, or 8,192 bytes where there are more than 4,096 |
 * | | | zeros up to a multiple of 8 bytes |
 */
const VERSION = 1
const HEADER_BYTES = 16
const BITMAP_BYTES = 8_192
/** More ids than this stand in a bitmap. */
const MOST_LISTED = BITMAP_BYTES / 2

export class TagSet {
  /** Number of ids. */
  readonly size: number
  /** Bytes in memory. */
  readonly bytes: number
  readonly #words: Uint32Array
  readonly #halves: Uint16Array
  readonly #bits: Uint8Array
  readonly #containers: number
  /** Where each container begins, in bytes, by upper bits; 0 without one. */
  readonly #starts: Uint32Array

  /** @param page  verified, in memory of its own. Throws Damage. */
  constructor(page: Uint8Array<ArrayBuffer>) {
    if (page.length < HEADER_BYTES || page[0] !== VERSION || page.length % 8 !== 0) {
      throw new Damage('a set of tags is written in an unknown way')
    }
    this.#words = new Uint32Array(page.buffer, page.byteOffset, page.length >> 2)
    this.#halves = new Uint16Array(page.buffer, page.byteOffset, page.length >> 1)
    this.#bits = page
    this.#containers = this.#words[2]!
    this.size = this.#words[3]!
    let at = HEADER_BYTES + 8 * this.#containers
    if (at > page.length) throw new Damage('a set of tags does not fit its size')
    let before = -1
    let sum = 0
    const last = this.#containers === 0 ? -1 : this.#upper(this.#containers - 1)
    if (last > 0xffff) throw new Damage('a set of tags contradicts itself')
    this.#starts = new Uint32Array(last + 1)
    for (let i = 0; i < this.#containers; i++) {
      const upper = this.#upper(i)
      const count = this.#count(i)
      if (upper <= before || upper > last || count === 0 || count > 65_536) {
        throw new Damage('a set of tags contradicts itself')
      }
      before = upper
      this.#starts[upper] = at
      at += containerBytes(count)
      sum += count
    }
    if (aligned(at) !== page.length || sum !== this.size) {
      throw new Damage('a set of tags does not fit its size')
    }
    this.bytes = page.length + this.#starts.byteLength
  }

  #upper(container: number): number {
    return this.#words[(HEADER_BYTES >> 2) + 2 * container]!
  }

  #count(container: number): number {
    return this.#words[(HEADER_BYTES >> 2) + 2 * container + 1]!
  }

  has(tag: number): boolean {
    const upper = tag >>> 16
    const start = upper < this.#starts.length ? this.#starts[upper]! : 0
    if (start === 0) return false
    const lower = tag & 0xffff
    const count = this.#countFrom(upper)
    if (count > MOST_LISTED) return (this.#bits[start + (lower >> 3)]! & (1 << (lower & 7))) !== 0
    const from = start >> 1
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#halves[from + middle]! < lower) low = middle + 1
      else high = middle
    }
    return low < count && this.#halves[from + low] === lower
  }

  /** Number of ids with such upper bits, which there are. */
  #countFrom(upper: number): number {
    // Mostly there is a container for each of the upper bits.
    if (upper < this.#containers && this.#upper(upper) === upper) return this.#count(upper)
    let low = 0
    let high = this.#containers - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#upper(middle) < upper) low = middle + 1
      else high = middle
    }
    return this.#count(low)
  }

  /** All ids, ascending. */
  *[Symbol.iterator](): Generator<number> {
    for (let i = 0; i < this.#containers; i++) {
      const base = this.#upper(i) * 65_536
      const count = this.#count(i)
      const start = this.#starts[this.#upper(i)]!
      if (count <= MOST_LISTED) {
        for (let k = 0; k < count; k++) yield base + this.#halves[(start >> 1) + k]!
        continue
      }
      for (let byte = 0; byte < BITMAP_BYTES; byte++) {
        const bits = this.#bits[start + byte]!
        for (let bit = 0; bits >> bit !== 0; bit++) {
          if ((bits & (1 << bit)) !== 0) yield base + byte * 8 + bit
        }
      }
    }
  }
}

function containerBytes(count: number): number {
  return count > MOST_LISTED ? BITMAP_BYTES : 2 * count
}

/** Makes a set of ids that come in ascending order. */
export class TagSetBuilder {
  size = 0
  readonly #containers: { readonly upper: number; readonly count: number; readonly bytes: Uint8Array }[] = []
  readonly #lower = new Uint16Array(65_536)
  #upper = -1
  #count = 0

  add(tag: number): void {
    const upper = tag >>> 16
    if (upper !== this.#upper) {
      this.#close()
      this.#upper = upper
    }
    this.#lower[this.#count++] = tag & 0xffff
    this.size++
  }

  #close(): void {
    const count = this.#count
    if (count === 0) return
    const lower = this.#lower.subarray(0, count)
    const bytes = new Uint8Array(containerBytes(count))
    if (count > MOST_LISTED) for (const id of lower) bytes[id >> 3]! |= 1 << (id & 7)
    else new Uint16Array(bytes.buffer).set(lower)
    this.#containers.push({ upper: this.#upper, count, bytes })
    this.#count = 0
  }

  /** The set as a page, with its checksum. */
  finish(): Uint8Array<ArrayBuffer> {
    this.#close()
    const header = HEADER_BYTES + 8 * this.#containers.length
    const size = this.#containers.reduce((sum, { bytes }) => sum + bytes.length, header)
    const page = new Uint8Array(aligned(size))
    const words = new Uint32Array(page.buffer)
    page[0] = VERSION
    words[2] = this.#containers.length
    words[3] = this.size
    let at = header
    this.#containers.forEach(({ upper, count, bytes }, i) => {
      words[(HEADER_BYTES >> 2) + 2 * i] = upper
      words[(HEADER_BYTES >> 2) + 2 * i + 1] = count
      page.set(bytes, at)
      at += bytes.length
    })
    addChecksum(page)
    return page
  }
}
