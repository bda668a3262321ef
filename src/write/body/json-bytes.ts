import { divideExactly } from './divide-exactly.ts'
import { fourDigits, othersThanDigits, valueOfFour, type Word } from './words.ts'

export const QUOTE = 34
export const COMMA = 44
export const COLON = 58
export const OPEN_ARRAY = 91
export const CLOSE_ARRAY = 93
export const OPEN_OBJECT = 123
export const CLOSE_OBJECT = 125

const BACKSLASH = 92
const PLUS = 43
const MINUS = 45
const DOT = 46
const UPPER_E = 69
const LOWER_E = 101

/** More digits may not fit into the whole numbers that a double holds exactly. */
const EXACT_DIGITS = 15
/** So many fit into 32 bits, whose arithmetic is faster. */
const LOW_DIGITS = 9
/** More cannot be divided by. */
const MAX_DECIMALS = 22
/** Every power of ten that a double holds exactly. */
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
/** Of a timestamp in milliseconds. */
const STAMP_DIGITS = 13
/** A longer number is left to the general reader. */
const LONGEST_NUMBER = 64
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Scanner over JSON text as bytes, with a position. The methods move the position behind what they read. Methods that
 * give a boolean answer false where something else stands there, or something unusual that only the general reader
 * knows; the place means nothing then.
 */
export class JsonBytes {
  readonly bytes: Uint8Array
  readonly words: DataView
  readonly #text: Buffer
  /** Where the last word of four bytes begins. */
  readonly #lastWord: number
  /**
   * The first eight digits of the last millisecond timestamp: as they stand in memory, and the number without the other
   * five.
   */
  #stampHead = 0
  #stampHead2 = 0
  #stampBase = 0
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#lastWord = bytes.length - 4
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  /** The next byte that is no blank, where the place is then; -1 at the end. */
  peek(): number {
    const { bytes } = this
    // Never looked for beyond the end: an array that once was is slower from then on.
    for (let { at } = this; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte > 32 || !(byte === 32 || byte === 10 || byte === 13 || byte === 9)) {
        this.at = at
        return byte
      }
    }
    this.at = bytes.length
    return -1
  }

  /** Takes this byte, after any blanks. */
  take(wanted: number): boolean {
    if (this.peek() !== wanted) return false
    this.at++
    return true
  }

  /** Takes these bytes, at the place itself. */
  takeWord(word: Word): boolean {
    const { at } = this
    if (at + word.length > this.bytes.length) return false
    // Both ends of the word as 32 bits; a word of 9 to 12 bytes has a middle besides.
    if (
      this.words.getUint32(at, true) !== word.head ||
      this.words.getUint32(at + word.length - 4, true) !== word.tail ||
      (word.length > 8 && this.words.getUint32(at + 4, true) !== word.middle)
    ) {
      return false
    }
    this.at = at + word.length
    return true
  }

  /** Whether the bytes from `at` on are those of `other` from `first` on. */
  isSame(at: number, other: DataView, first: number, length: number): boolean {
    const { words } = this
    if (at + length > this.bytes.length) return false
    if (length < 4) {
      for (let i = 0; i < length; i++) if (words.getUint8(at + i) !== other.getUint8(first + i)) return false
      return true
    }
    const last = length - 4
    for (let i = 0; i < last; i += 4) {
      if (words.getInt32(at + i) !== other.getInt32(first + i)) return false
    }
    return words.getInt32(at + last) === other.getInt32(first + last)
  }

  /**
   * Reads a string up to and without the quote that ends it, the place being behind the one that begins it.
   * @returns its length in bytes; -1 for one that is cut off, or holds an escape or a control character
   */
  stringLength(): number {
    const { bytes, at } = this
    for (let end = at; end < bytes.length; end++) {
      const byte = bytes[end]!
      if (byte === QUOTE) return end - at
      if (byte === BACKSLASH || byte < 32) return -1
    }
    return -1
  }

  /**
   * Reads a finite number into `target[index]`, the same double as JSON.parse, wherever the place is.
   * @returns where it ends; -1 where none begins
   */
  readNumberAt(start: number, target: Float64Array, index: number): number {
    const { bytes } = this
    let at = start
    const isNegative = bytes[at] === MINUS
    if (isNegative) at++
    const first = at
    // The digits are one whole number below 10^15, which a double holds: `high`, then up to nine in `low`, of 32 bits.
    let high = 0
    if (at + 8 <= this.#lastWord) {
      const word = this.words.getInt32(at, true)
      const others = othersThanDigits(word)
      if (others !== 0) {
        const end = this.#readShortDecimal(at, word, others, isNegative, target, index)
        if (end > 0) return end
      } else {
        const four = fourDigits(word)
        const next = fourDigits(this.words.getInt32(at + 4, true))
        high = next < 0 ? four : Math.imul(four, 10_000) + next
        at += next < 0 ? 4 : 8
      }
    }
    const middle = at
    let low = 0
    let byte = bytes[at]!
    while (byte >= 48 && byte <= 57) {
      low = (Math.imul(low, 10) + byte - 48) | 0
      byte = bytes[++at]!
    }
    const whole = at - first
    let lowDigits = at - middle
    let decimals = 0
    if (byte === DOT) {
      const point = at
      byte = bytes[++at]!
      while (byte >= 48 && byte <= 57) {
        low = (Math.imul(low, 10) + byte - 48) | 0
        byte = bytes[++at]!
      }
      decimals = at - point - 1
      lowDigits += decimals
      if (decimals === 0) return -1
    }
    if (whole === 0 || (whole > 1 && bytes[first] === 48)) return -1
    if (byte === LOWER_E || byte === UPPER_E) return this.#readOtherNumber(start, target, index)
    if (lowDigits > LOW_DIGITS || whole + decimals > EXACT_DIGITS) {
      if (decimals > MAX_DECIMALS || !this.#readLongNumber(first, at, decimals, target, index)) {
        return this.#readOtherNumber(start, target, index)
      }
      if (isNegative) target[index] = -target[index]!
      return at
    }
    const digits = high === 0 ? low : high * POWERS_OF_TEN[lowDigits]! + low
    // Both are exact, so that the division rounds once, as it should.
    const value = decimals === 0 ? digits : digits / POWERS_OF_TEN[decimals]!
    target[index] = isNegative ? -value : value
    return at
  }

  /**
   * Reads a timestamp of thirteen digits, milliseconds of the years 2001 to 2286. Timestamps that follow each other
   * begin alike, so that five of the digits are looked at one by one.
   * @returns the number; -1 where there are fewer digits. What comes after them, a digit perhaps, is for the caller to
   *          see
   */
  readStampAt(at: number): number {
    if (at + STAMP_DIGITS > this.#lastWord) return -1
    const { words } = this
    const head = words.getInt32(at, true)
    const head2 = words.getInt32(at + 4, true)
    if ((head !== this.#stampHead || head2 !== this.#stampHead2) && !this.#keepStampHead(head, head2))
      return -1
    const four = fourDigits(words.getInt32(at + 8, true))
    const last = this.bytes[at + 12]! - 48
    return four < 0 || last < 0 || last > 9 ? -1 : this.#stampBase + (four * 10 + last)
  }

  #keepStampHead(head: number, head2: number): boolean {
    const high = fourDigits(head)
    const low = fourDigits(head2)
    if (high < 1_000 || low < 0) return false
    this.#stampHead = head
    this.#stampHead2 = head2
    this.#stampBase = (high * 10_000 + low) * 100_000
    return true
  }

  /**
   * Reads timestamps of thirteen digits with commas between them, and no blanks, from `at` to the end of their array
   * into `target` from `index` up to and without `last`, turned into microseconds.
   * @returns the index after the last one, the place being behind the end of the array; -1 where there is anything
   *          else, and then the place stays
   */
  readStampsAt(start: number, target: Float64Array, index: number, last: number): number {
    const { bytes } = this
    let at = start
    for (let next = index; next < last; next++) {
      const stamp = this.readStampAt(at)
      if (stamp < 0) return -1
      target[next] = stamp * 1_000
      at += STAMP_DIGITS + 1
      const behind = bytes[at - 1]
      if (behind === COMMA) continue
      if (behind !== CLOSE_ARRAY) return -1
      this.at = at
      return next + 1
    }
    return -1
  }

  /**
   * Reads numbers with commas between them, and no blanks, into `target` from `index` up to and without `last`, until
   * there is anything else, or up to the comma after the last of them.
   * @param isTime  whether most are probably timestamps of thirteen digits, which is faster then
   * @returns the index after the last one; -1 when there is something that is no number, and then the place stays
   */
  readNumbers(target: Float64Array, index: number, last: number, isTime: boolean): number {
    const { bytes } = this
    let at = this.at
    for (let next = index; next < last; next++) {
      if (isTime) {
        const stamp = this.readStampAt(at)
        if (stamp >= 0 && bytes[at + STAMP_DIGITS] === COMMA) {
          target[next] = stamp
          at += STAMP_DIGITS + 1
          continue
        }
      }
      at = this.readNumberAt(at, target, next)
      if (at < 0) return -1
      if (bytes[at] !== COMMA) {
        this.at = at
        return next + 1
      }
      at++
    }
    this.at = at
    return last
  }

  /** Reads a finite number at the place. */
  readNumber(target: Float64Array, index: number): boolean {
    const end = this.readNumberAt(this.at, target, index)
    if (end < 0) return false
    this.at = end
    return true
  }

  /**
   * Reads up to three digits, a point and further ones that end within eight bytes, all at once: with the lengths of
   * values the branches of a loop over their digits would be mispredicted each time.
   * @param others  of the first four bytes, as of othersThanDigits
   * @returns where the number ends; 0 where it is another one, or none
   */
  #readShortDecimal(
    at: number,
    word: number,
    others: number,
    isNegative: boolean,
    target: Float64Array,
    index: number,
  ): number {
    const point = others & -others
    const before = 31 - Math.clz32(point)
    // `before` is the highest bit of the point's byte; that of the first digit when there is none before it.
    const whole = before >> 3
    if (whole === 0 || ((word >>> (before - 7)) & 0xff) !== DOT) return 0
    if (whole > 1 && (word & 0xff) === 48) return 0
    // The digits before the point move up to those behind it: eight digits, which begin with a zero, and end with some.
    const digits = word ^ 0x30303030
    let high = ((digits & ((point >>> 7) - 1)) << 8) | (digits & ~((point << 1) - 1))
    let low = 0
    let end = others ^ point
    let length = 0
    if (end !== 0) {
      end &= -end
      length = (31 - Math.clz32(end)) >> 3
      high &= (end >>> 7) - 1
    } else {
      const next = this.words.getInt32(at + 4, true)
      end = othersThanDigits(next)
      if (end === 0) return 0
      end &= -end
      length = 4 + ((31 - Math.clz32(end)) >> 3)
      low = (next ^ 0x30303030) & ((end >>> 7) - 1)
    }
    if (length === whole + 1) return 0
    const behind = this.bytes[at + length]
    if (behind !== COMMA && behind !== CLOSE_OBJECT && behind !== CLOSE_ARRAY) return 0
    // Both are exact, so that the division rounds once, as it should.
    const value = (valueOfFour(high) * 10_000 + valueOfFour(low)) / POWERS_OF_TEN[7 - whole]!
    target[index] = isNegative ? -value : value
    return at + length
  }

  /**
   * The same for digits with or without a point in between, as they are printed of doubles with 16 or 17 of them.
   * @returns false when there are more than 18, or too near to the middle of two doubles
   */
  #readLongNumber(
    start: number,
    end: number,
    decimals: number,
    target: Float64Array,
    index: number,
  ): boolean {
    const { bytes } = this
    let high = 0
    let low = 0
    let digits = 0
    for (let at = start; at < end; at++) {
      const digit = bytes[at]! - 48
      if (digit < 0 || (digit === 0 && digits === 0)) continue
      if (digits < LOW_DIGITS) high = (Math.imul(high, 10) + digit) | 0
      else low = (Math.imul(low, 10) + digit) | 0
      if (++digits > 2 * LOW_DIGITS) return false
    }
    const lowDigits = Math.max(0, digits - LOW_DIGITS)
    const value = divideExactly(high, POWERS_OF_TEN[lowDigits]!, low, POWERS_OF_TEN[decimals]!)
    if (Number.isNaN(value)) return false
    target[index] = value
    return true
  }

  /** Any number. */
  #readOtherNumber(start: number, target: Float64Array, index: number): number {
    const { bytes } = this
    const longest = Math.min(bytes.length, start + LONGEST_NUMBER)
    let end = start
    while (end < longest && isOfNumber(bytes[end]!)) end++
    const text = this.#text.toString('latin1', start, end)
    if (end === start + LONGEST_NUMBER || !NUMBER.test(text)) return -1
    const value = Number(text)
    if (!Number.isFinite(value)) return -1
    target[index] = value
    return end
  }
}

function isOfNumber(byte: number): boolean {
  if (byte >= 48 && byte <= 57) return true
  return byte === DOT || byte === MINUS || byte === PLUS || byte === LOWER_E || byte === UPPER_E
}
