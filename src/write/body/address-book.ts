import { isReservedHistorian, parseAddress } from '../../grammar/address.ts'
import { ByteChunks } from './byte-chunks.ts'
import { type JsonBytes, QUOTE } from './json-bytes.ts'
import { MOST_NUMBERS, NO_ROOM, NONE, NumberTable } from './number-table.ts'

/** The addresses of a request by their numbers, and the names of their tags. */
interface TagList {
  readonly numbers: Uint32Array
  readonly tags: readonly string[]
}

/** Lists that are kept. */
const MAX_LISTS = 128

/** What an address book keeps at most. */
export interface BookLimits {
  /** Addresses, some 24 bytes each beside their ends, at most MOST_NUMBERS; beyond these all are forgotten. */
  readonly addresses: number
  /**
   * Addresses of all lists, each with its tag's name as a text: a million tags in requests of 10,000 are a hundred
   * lists.
   */
  readonly listed: number
}

export const BOOK_LIMITS: BookLimits = { addresses: MOST_NUMBERS, listed: 2 ** 20 }
/**
 * In a worker process: the store that knows a list again by its array is in another one, and is sent the texts anyway.
 */
export const WORKER_BOOK_LIMITS: BookLimits = { ...BOOK_LIMITS, listed: 2 ** 16 }
/** Bytes of memory for the texts of all addresses; beyond these all are forgotten. */
const MAX_BYTES = 64 * 2 ** 20
/** Names of historians; beyond these all is forgotten. */
const MAX_HISTORIANS = 2 ** 16
/** In bytes. A tag's name has at most 512 UTF-16 units; longer addresses are left to the general reader. */
const LONGEST_ADDRESS = 4_095

/** Numbers of requests begin anew behind it. */
const MAX_STAMP = 0xffff_ffff

/**
 * What is known of an address, in 16 bytes beside each other: the place of its end's bytes, the number of its beginning
 * with the length of its end, the address that came after it last, as clients send their tags in one order, and the
 * request that named it last.
 */
const WORDS = 4
const END_PLACE = 0
const PARTS = 1
const NEXT = 2
const STAMP = 3
/** Bits of the length of an end. */
const LENGTH_BITS = 12
const LENGTH_MASK = (1 << LENGTH_BITS) - 1
const PAGE_BITS = 14
const PAGE_ADDRESSES = 1 << PAGE_BITS

/** What is known of a beginning: the place of its bytes, its length, the place of its historian, and its hash. */
const BEGINNING_WORDS = 4
const BEGINNING_PLACE = 0
const BEGINNING_LENGTH = 1
const HISTORIAN = 2
const BEGINNING_HASH = 3

const SLASH = 47

/**
 * The addresses of earlier requests by their bytes: clients write the same tags again and again, and making a text of
 * an address and taking it apart costs more than reading its points. Holds addresses that are well-formed and may
 * belong to a configured historian; whether there is one is not its concern.
 *
 * Addresses are kept as bytes, which collections of garbage never look into: texts of a million of them would take more
 * than 100 MB. The beginning of an address, up to its last slash, is that of many others, and is kept once (dictionary
 * coding).
 */
export class AddressBook {
  readonly #limits: BookLimits
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The names of historians, each once, so that comparing two is comparing references, and their places there. */
  #historians: string[] = []
  readonly #places = new Map<string, number>()
  /** Beginnings and ends of addresses. */
  readonly #bytes = new ByteChunks()
  #beginnings = new Int32Array(BEGINNING_WORDS * 16)
  #beginningCount = 0
  readonly #beginningTable: NumberTable
  /** Addresses that are known. */
  #count = 0
  #pages: Int32Array<ArrayBuffer>[] = []
  readonly #table: NumberTable
  /** The first address of the last request. */
  #first = 0
  /** What is looked up in a table: so many bytes from a place on, of a beginning. */
  #wanted: JsonBytes | null = null
  #wantedAt = 0
  #wantedLength = 0
  #wantedBeginning = NONE
  /** The tags of earlier requests: equal tags get the same array. The one used last is in front. */
  #lists: TagList[] = []
  /** Addresses of all lists. */
  #listed = 0
  /** A name that is put together. */
  readonly #name = Buffer.alloc(LONGEST_ADDRESS)
  /** Grows when all is forgotten: numbers from before mean nothing any more. */
  generation = 0
  /** The number of the request that is being read, or was read last. */
  lastRequest = 0

  constructor(limits = BOOK_LIMITS) {
    this.#limits = limits
    this.#beginningTable = new NumberTable({
      hashOf: (beginning) => this.#beginnings[BEGINNING_WORDS * beginning + BEGINNING_HASH]!,
      isWanted: (beginning) =>
        this.#beginningLength(beginning) === this.#wantedLength &&
        this.#isWanted(this.#beginnings[BEGINNING_WORDS * beginning + BEGINNING_PLACE]!),
    })
    this.#table = new NumberTable({
      hashOf: (number) => this.#hashOf(number),
      isWanted: (number) =>
        this.#parts(number) === partsOf(this.#wantedBeginning, this.#wantedLength) &&
        this.#isWanted(this.#word(number, END_PLACE)),
    })
  }

  /**
   * Reads an address up to its quote, and gives its number, from 0.
   * @param text     UTF-8, its place at the first byte of the address; behind the quote afterwards
   * @param previous the number of the address before it in the request, -1 for the first one
   * @returns -1 when it is none, is written with escapes, or names a virtual historian
   */
  find(text: JsonBytes, previous: number): number {
    const expected = this.#nextOf(previous)
    if (expected < this.#count && this.#isAt(expected, text)) return expected
    const start = text.at
    const length = text.stringLength()
    if (length < 0 || length > LONGEST_ADDRESS) return NONE
    const found = this.#lookUp(text, length)
    // A body is not to be kept.
    this.#wanted = null
    text.at = start + length + 1
    if (found === NONE) return NONE
    if (previous < 0) this.#first = found
    // All may have been forgotten just now.
    else if (previous < this.#count) this.#setWord(previous, NEXT, found)
    return found
  }

  #nextOf(previous: number): number {
    if (previous < 0) return this.#first
    return previous < this.#count ? this.#word(previous, NEXT) : 0
  }

  #lookUp(text: JsonBytes, length: number): number {
    const { bytes, at: start } = text
    let beginningLength = length
    while (beginningLength > 0 && bytes[start + beginningLength - 1] !== SLASH) beginningLength--
    const endLength = length - beginningLength
    this.#wanted = text
    this.#wantedAt = start
    this.#wantedLength = beginningLength
    const beginning = this.#beginningTable.find(hashOf(0, bytes, start, beginningLength))
    if (beginning === NO_ROOM) return NONE
    if (beginning === NONE) return this.#add(bytes, start, length, beginningLength, NONE)
    this.#wantedAt = start + beginningLength
    this.#wantedLength = endLength
    this.#wantedBeginning = beginning
    const number = this.#table.find(hashOf(beginning, bytes, start + beginningLength, endLength))
    if (number === NO_ROOM) return NONE
    return number === NONE ? this.#add(bytes, start, length, beginningLength, beginning) : number
  }

  /** Whether a text goes on with an address and its quote; if so its place is behind them. */
  #isAt(number: number, text: JsonBytes): boolean {
    // Each is read once here, as this is done for nearly all addresses.
    const page = this.#pages[number >>> PAGE_BITS]!
    const first = (number & (PAGE_ADDRESSES - 1)) * WORDS
    const parts = page[first + PARTS]!
    const beginning = BEGINNING_WORDS * (parts >>> LENGTH_BITS)
    const beginningLength = this.#beginnings[beginning + BEGINNING_LENGTH]!
    const endLength = parts & LENGTH_MASK
    const endAt = text.at + beginningLength
    const quoteAt = endAt + endLength
    if (quoteAt >= text.bytes.length || text.bytes[quoteAt] !== QUOTE) return false
    if (!this.#isSame(text, endAt, page[first + END_PLACE]!, endLength)) return false
    if (!this.#isSame(text, text.at, this.#beginnings[beginning + BEGINNING_PLACE]!, beginningLength))
      return false
    text.at = quoteAt + 1
    return true
  }

  /** Whether a text has the bytes of a place. */
  #isSame(text: JsonBytes, at: number, place: number, length: number): boolean {
    return text.isSame(at, this.#bytes.viewOf(place), ByteChunks.offsetOf(place), length)
  }

  #isWanted(place: number): boolean {
    return this.#isSame(this.#wanted!, this.#wantedAt, place, this.#wantedLength)
  }

  #beginningLength(beginning: number): number {
    return this.#beginnings[BEGINNING_WORDS * beginning + BEGINNING_LENGTH]!
  }

  #word(number: number, word: number): number {
    return this.#pages[number >>> PAGE_BITS]![(number & (PAGE_ADDRESSES - 1)) * WORDS + word]!
  }

  #setWord(number: number, word: number, value: number): void {
    this.#pages[number >>> PAGE_BITS]![(number & (PAGE_ADDRESSES - 1)) * WORDS + word] = value
  }

  #parts(number: number): number {
    return this.#word(number, PARTS)
  }

  nextRequest(): number {
    if (this.lastRequest === MAX_STAMP) {
      for (let number = 0; number < this.#count; number++) this.#setWord(number, STAMP, 0)
      this.lastRequest = 0
    }
    return ++this.lastRequest
  }

  historianOf(number: number): string {
    return this.#historians[this.#historianPlace(this.#parts(number) >>> LENGTH_BITS)]!
  }

  #historianPlace(beginning: number): number {
    return this.#beginnings[BEGINNING_WORDS * beginning + HISTORIAN]!
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
    const parts = this.#parts(number)
    const beginning = parts >>> LENGTH_BITS
    const historianLength = this.#historians[this.#historianPlace(beginning)]!.length + 1
    const place = this.#beginnings[BEGINNING_WORDS * beginning + BEGINNING_PLACE]!
    const length = this.#copy(place + historianLength, this.#beginningLength(beginning) - historianLength, 0)
    const end = this.#copy(this.#word(number, END_PLACE), parts & LENGTH_MASK, length)
    return this.#name.toString('utf8', 0, end)
  }

  /** Copies bytes into the name that is put together; gives where they end there. */
  #copy(place: number, length: number, to: number): number {
    const bytes = this.#bytes.bytesOf(place)
    const name = this.#name
    for (let i = 0, from = ByteChunks.offsetOf(place); i < length; i++) name[to + i] = bytes[from + i]!
    return to + length
  }

  /** Notes that a request names an address. @returns false when it had named it before */
  stamp(number: number, request: number): boolean {
    const page = this.#pages[number >>> PAGE_BITS]!
    const at = (number & (PAGE_ADDRESSES - 1)) * WORDS + STAMP
    // Words are signed.
    if (page[at] === (request | 0)) return false
    page[at] = request
    return true
  }

  /** @param known  the number of its beginning, or NONE */
  #add(bytes: Uint8Array, start: number, length: number, beginningLength: number, known: number): number {
    const parsed = parseAddress(this.#decoder.decode(bytes.subarray(start, start + length)))
    if (parsed === null || isReservedHistorian(parsed.historian)) return NONE
    const isFull =
      this.#count >= this.#limits.addresses ||
      this.#bytes.bytes > MAX_BYTES ||
      this.#historians.length >= MAX_HISTORIANS
    if (isFull) this.#forget()
    const beginning =
      isFull || known === NONE ? this.#addBeginning(bytes, start, beginningLength, parsed.historian) : known
    const number = this.#count++
    if (number >>> PAGE_BITS === this.#pages.length) this.#pages.push(new Int32Array(PAGE_ADDRESSES * WORDS))
    const endLength = length - beginningLength
    this.#setWord(number, END_PLACE, this.#bytes.add(bytes, start + beginningLength, endLength))
    this.#setWord(number, PARTS, partsOf(beginning, endLength))
    this.#table.add(this.#hashOf(number), number)
    return number
  }

  #addBeginning(bytes: Uint8Array, start: number, length: number, historian: string): number {
    const beginning = this.#beginningCount++
    const at = BEGINNING_WORDS * beginning
    if (at === this.#beginnings.length) {
      this.#beginnings = new Int32Array(this.#beginnings.buffer.transfer(2 * this.#beginnings.byteLength))
    }
    const hash = hashOf(0, bytes, start, length)
    this.#beginnings[at + BEGINNING_PLACE] = this.#bytes.add(bytes, start, length)
    this.#beginnings[at + BEGINNING_LENGTH] = length
    this.#beginnings[at + HISTORIAN] = this.#placeOf(historian)
    this.#beginnings[at + BEGINNING_HASH] = hash
    this.#beginningTable.add(hash, beginning)
    return beginning
  }

  #placeOf(historian: string): number {
    const known = this.#places.get(historian)
    if (known !== undefined) return known
    const place = this.#historians.push(historian) - 1
    this.#places.set(historian, place)
    return place
  }

  #hashOf(number: number): number {
    const parts = this.#parts(number)
    const place = this.#word(number, END_PLACE)
    const at = ByteChunks.offsetOf(place)
    return hashOf(parts >>> LENGTH_BITS, this.#bytes.bytesOf(place), at, parts & LENGTH_MASK)
  }

  #forget(): void {
    this.generation++
    this.#count = 0
    this.#pages = []
    this.#table.clear()
    this.#beginningCount = 0
    this.#beginningTable.clear()
    this.#bytes.clear()
    this.#historians = []
    this.#places.clear()
    this.#lists = []
    this.#listed = 0
  }
}

/** Of an address, its beginning and the length of its end. */
function partsOf(beginning: number, endLength: number): number {
  return (beginning << LENGTH_BITS) | endLength
}

function hashOf(seed: number, bytes: Uint8Array, start: number, length: number): number {
  let hash = Math.imul(seed + length, 0x9e3779b1)
  for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return hash ^ (hash >>> 16)
}

function isSameList(one: Uint32Array, other: readonly number[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}
