import { isReservedHistorian, parseAddress } from '../../grammar/address.ts'
import { type JsonBytes, QUOTE } from './json-bytes.ts'

/** The addresses of a request by their numbers, and the names of their tags. */
interface TagList {
  readonly numbers: Uint32Array
  readonly tags: readonly string[]
}

/** Lists that are kept. */
const MAX_LISTS = 128

/** What an address book keeps at most. */
export interface BookLimits {
  /** Addresses, some 30 bytes each beside their own; beyond these all are forgotten. */
  readonly addresses: number
  /**
   * Addresses of all lists, each with its tag's name as a text: a million tags in requests of 10,000 are a hundred
   * lists.
   */
  readonly listed: number
}

export const BOOK_LIMITS: BookLimits = { addresses: 2 ** 20, listed: 2 ** 20 }
/**
 * In a worker process: the store that knows a list again by its array is in another one, and is sent the texts anyway.
 */
export const WORKER_BOOK_LIMITS: BookLimits = { ...BOOK_LIMITS, listed: 2 ** 16 }
/** Bytes of all addresses; beyond these all are forgotten. */
const MAX_BYTES = 64 * 2 ** 20
/** Names of historians; beyond these all is forgotten. */
const MAX_HISTORIANS = 2 ** 16

const NONE = -1
/** Numbers of requests begin anew behind it. */
const MAX_STAMP = 0xffff_ffff
/** Names that somebody chose to meet in one place are left to the general reader. */
const MAX_PROBES = 256

/**
 * The addresses of earlier requests by their bytes: clients write the same tags again and again, and making a text of
 * an address and taking it apart costs more than reading its points. Holds addresses that are well-formed and may
 * belong to a configured historian; whether there is one is not its concern. Addresses are kept as bytes, which collections
 * of garbage never look into: texts of a million of them would take more than 100 MB.
 */
export class AddressBook {
  readonly #limits: BookLimits
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The names of historians, each once, so that comparing two is comparing references, and their places there. */
  #historians: string[] = []
  readonly #places = new Map<string, number>()
  /** Addresses that are known. */
  #count = 0
  /** Of each address, the place of its historian. */
  #historianOf = new Uint16Array(256)
  #bytes = Buffer.alloc(4_096)
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
  #stamps = new Uint32Array(256)
  /** The tags of earlier requests: equal tags get the same array. The one used last is in front. */
  #lists: TagList[] = []
  /** Addresses of all lists. */
  #listed = 0
  /** Grows when all is forgotten: numbers from before mean nothing any more. */
  generation = 0
  /** The number of the request that is being read, or was read last. */
  lastRequest = 0

  constructor(limits = BOOK_LIMITS) {
    this.#limits = limits
  }

  /**
   * Reads an address up to its quote, and gives its number, from 0.
   * @param text     UTF-8, its place at the first byte of the address; behind the quote afterwards
   * @param previous the number of the address before it in the request, -1 for the first one
   * @returns -1 when it is none, is written with escapes, or names a virtual historian
   */
  find(text: JsonBytes, previous: number): number {
    const expected = this.#next[previous + 1]!
    if (expected < this.#count && this.#isAt(expected, text)) return expected
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
    if (this.lastRequest === MAX_STAMP) {
      this.#stamps.fill(0)
      this.lastRequest = 0
    }
    return ++this.lastRequest
  }

  historianOf(number: number): string {
    return this.#historians[this.#historianOf[number]!]!
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
    const tags = numbers.map((number) => this.#tagOf(number))
    this.#lists.unshift({ numbers: Uint32Array.from(numbers), tags })
    this.#listed += numbers.length
    while (this.#lists.length > MAX_LISTS || this.#listed > this.#limits.listed) {
      this.#listed -= this.#lists.pop()!.numbers.length
    }
    return tags
  }

  #tagOf(number: number): string {
    const start = this.#startOf(number) + this.historianOf(number).length + 1
    return this.#bytes.toString('utf8', start, this.#ends[number])
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
    const isFull =
      this.#count >= this.#limits.addresses ||
      this.#used + length > MAX_BYTES ||
      this.#historians.length >= MAX_HISTORIANS
    if (isFull) this.#forget()
    const number = this.#count++
    this.#reserve(number, length)
    const first = this.#startOf(number)
    this.#bytes.set(bytes.subarray(start, start + length), first)
    this.#historianOf[number] = this.#placeOf(parsed.historian)
    this.#ends[number] = first + length
    this.#hashes[number] = hash
    this.#stamps[number] = 0
    this.#enter(number)
    return number
  }

  #placeOf(historian: string): number {
    const known = this.#places.get(historian)
    if (known !== undefined) return known
    const place = this.#historians.push(historian) - 1
    this.#places.set(historian, place)
    return place
  }

  get #used(): number {
    return this.#count === 0 ? 0 : this.#ends[this.#count - 1]!
  }

  #enter(number: number): void {
    const mask = this.#table.length - 1
    let place = this.#hashes[number]! & mask
    while (this.#table[place] !== NONE) place = (place + 1) & mask
    this.#table[place] = number
  }

  /** Makes room for one more address. */
  #reserve(number: number, length: number): void {
    const needed = this.#startOf(number) + length
    if (needed > this.#bytes.length) {
      this.#bytes = Buffer.from(this.#bytes.buffer.transfer(Math.max(needed, 2 * this.#bytes.length)))
      this.#words = new DataView(this.#bytes.buffer)
    }
    if (number < this.#ends.length) return
    // The memory from before is given back at once, and not by the next collection of garbage.
    const bytes = 8 * number
    this.#ends = new Uint32Array(this.#ends.buffer.transfer(bytes))
    this.#hashes = new Int32Array(this.#hashes.buffer.transfer(bytes))
    this.#stamps = new Uint32Array(this.#stamps.buffer.transfer(bytes))
    this.#next = new Int32Array(this.#next.buffer.transfer(bytes + 4))
    this.#historianOf = new Uint16Array(this.#historianOf.buffer.transfer(4 * number))
    this.#table.buffer.transfer(0)
    this.#table = new Int32Array(4 * number).fill(NONE)
    for (let other = 0; other < number; other++) this.#enter(other)
  }

  #forget(): void {
    this.generation++
    this.#count = 0
    this.#historians = []
    this.#places.clear()
    this.#lists = []
    this.#listed = 0
    this.#table.fill(NONE)
  }
}

function isSameList(one: Uint32Array, other: readonly number[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}
