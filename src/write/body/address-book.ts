import { isReservedHistorian, parseAddress } from '../../grammar/address.ts'
import { type JsonBytes, QUOTE } from './json-bytes.ts'

/** The addresses of a request by their numbers, and the names of their tags. */
interface TagList {
  readonly numbers: Uint32Array
  readonly tags: readonly string[]
}

/**
 * Lists that are kept, and how many addresses all of them have: a million tags in requests of 10,000 are a hundred
 * lists.
 */
const MAX_LISTS = 128
const MAX_LISTED = 2 ** 20

/**
 * Bounds what is remembered: addresses, some 120 bytes each, and the bytes of them all. Beyond either, all are
 * forgotten.
 */
const MAX_ADDRESSES = 2 ** 20
const MAX_BYTES = 64 * 2 ** 20

const NONE = -1
/** Names that somebody chose to meet in one place are left to the general reader. */
const MAX_PROBES = 256

/**
 * The addresses of earlier requests by their bytes: clients write the same tags again and again, and making a text of
 * an address and taking it apart costs more than reading its points. Holds addresses that are well-formed and may
 * belong to a configured historian; whether there is one is not its concern.
 */
export class AddressBook {
  readonly #maxAddresses: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** Each historian name as one text, so that comparing two is comparing references. */
  readonly #historians = new Map<string, string>()
  /** Of each address, its historian and its tag. */
  #historianOf: string[] = []
  #tags: string[] = []
  #bytes = new Uint8Array(4_096)
  #words = new DataView(this.#bytes.buffer)
  /** Where the bytes of each address end. */
  #ends = new Uint32Array(256)
  /** Open addressing, a power of two of places, at most half of them taken: the number of an address or NONE. */
  #table = new Int32Array(512).fill(NONE)
  #hashes = new Int32Array(256)
  /**
   * Of each address, and before them of none, the one that came after it last: clients send their tags in one order.
   */
  #next = new Int32Array(257)
  /** Of each address, the request that named it last. */
  #stamps = new Float64Array(256)
  /** The tags of earlier requests: equal tags get the same array. The one used last is in front. */
  #lists: TagList[] = []
  /** Addresses of all lists. */
  #listed = 0
  /** Grows when all is forgotten: numbers from before mean nothing any more. */
  generation = 0
  /** The number of the request that is being read, or was read last. */
  lastRequest = 0

  constructor(maxAddresses = MAX_ADDRESSES) {
    this.#maxAddresses = maxAddresses
  }

  /**
   * Reads an address up to its quote, and gives its number, from 0.
   * @param text     UTF-8, its place at the first byte of the address; behind the quote afterwards
   * @param previous the number of the address before it in the request, -1 for the first one
   * @returns -1 when it is none, is written with escapes, or names a virtual historian
   */
  find(text: JsonBytes, previous: number): number {
    const expected = this.#next[previous + 1]!
    if (expected < this.#tags.length && this.#isAt(expected, text)) return expected
    const start = text.at
    const length = text.stringLength()
    if (length < 0) return NONE
    const found = this.#lookUp(text, length)
    text.at = start + length + 1
    if (found !== NONE) this.#next[previous + 1] = found
    return found
  }

  #lookUp(text: JsonBytes, length: number): number {
    const { bytes, at: start } = text
    let hash = length
    for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
    hash ^= hash >>> 15
    const mask = this.#table.length - 1
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const place = (hash + probe) & mask
      const found = this.#table[place]!
      if (found === NONE) return this.#add(bytes, start, length, hash)
      if (this.#hashes[found] !== hash || this.#lengthOf(found) !== length) continue
      if (text.isSame(this.#words, this.#startOf(found), length)) return found
    }
    return NONE
  }

  /** Whether a text goes on with an address and its quote; if so its place is behind them. */
  #isAt(number: number, text: JsonBytes): boolean {
    const length = this.#lengthOf(number)
    const end = text.at + length
    if (end >= text.bytes.length || text.bytes[end] !== QUOTE) return false
    if (!text.isSame(this.#words, this.#startOf(number), length)) return false
    text.at = end + 1
    return true
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!
  }

  #lengthOf(number: number): number {
    return this.#ends[number]! - this.#startOf(number)
  }

  nextRequest(): number {
    return ++this.lastRequest
  }

  historianOf(number: number): string {
    return this.#historianOf[number]!
  }

  /**
   * The names of the tags of some addresses: the same array as before for the same addresses in the same order, if that
   * is still known.
   */
  tagsOf(numbers: readonly number[]): readonly string[] {
    const at = this.#lists.findIndex((list) => isSameList(list.numbers, numbers))
    if (at === 0) return this.#lists[0]!.tags
    if (at > 0) {
      const [list] = this.#lists.splice(at, 1)
      this.#lists.unshift(list!)
      return list!.tags
    }
    const tags = numbers.map((number) => this.#tags[number]!)
    this.#lists.unshift({ numbers: Uint32Array.from(numbers), tags })
    this.#listed += numbers.length
    while (this.#lists.length > MAX_LISTS || this.#listed > MAX_LISTED) {
      this.#listed -= this.#lists.pop()!.numbers.length
    }
    return tags
  }

  /** Notes that a request names an address. @returns false when it had named it before */
  stamp(number: number, request: number): boolean {
    if (this.#stamps[number] === request) return false
    this.#stamps[number] = request
    return true
  }

  #add(bytes: Uint8Array, start: number, length: number, hash: number): number {
    const parsed = parseAddress(this.#decoder.decode(bytes.subarray(start, start + length)))
    if (parsed === null || isReservedHistorian(parsed.historian)) return NONE
    if (this.#tags.length >= this.#maxAddresses || this.#used + length > MAX_BYTES) this.#forget()
    const historian = this.#historians.getOrInsert(parsed.historian, parsed.historian)
    const number = this.#tags.push(parsed.tag) - 1
    this.#historianOf.push(historian)
    this.#reserve(number, length)
    const first = number === 0 ? 0 : this.#ends[number - 1]!
    this.#bytes.set(bytes.subarray(start, start + length), first)
    this.#ends[number] = first + length
    this.#hashes[number] = hash
    this.#stamps[number] = 0
    this.#enter(number)
    return number
  }

  get #used(): number {
    return this.#tags.length === 0 ? 0 : this.#ends[this.#tags.length - 1]!
  }

  #enter(number: number): void {
    const mask = this.#table.length - 1
    let place = this.#hashes[number]! & mask
    while (this.#table[place] !== NONE) place = (place + 1) & mask
    this.#table[place] = number
  }

  /** Makes room for one more address. */
  #reserve(number: number, length: number): void {
    const needed = (number === 0 ? 0 : this.#ends[number - 1]!) + length
    if (needed > this.#bytes.length) {
      const wider = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
      wider.set(this.#bytes)
      this.#bytes = wider
      this.#words = new DataView(wider.buffer)
    }
    if (number < this.#ends.length) return
    const capacity = 2 * number
    const [ends, hashes, stamps, next] = [this.#ends, this.#hashes, this.#stamps, this.#next]
    this.#ends = new Uint32Array(capacity)
    this.#hashes = new Int32Array(capacity)
    this.#stamps = new Float64Array(capacity)
    this.#ends.set(ends)
    this.#hashes.set(hashes)
    this.#stamps.set(stamps)
    this.#next = new Int32Array(capacity + 1)
    this.#next.set(next)
    this.#table = new Int32Array(2 * capacity).fill(NONE)
    for (let other = 0; other < number; other++) this.#enter(other)
  }

  #forget(): void {
    this.generation++
    this.#historianOf = []
    this.#tags = []
    this.#lists = []
    this.#listed = 0
    this.#historians.clear()
    this.#table.fill(NONE)
  }
}

function isSameList(one: Uint32Array, other: readonly number[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}
