import { DayText } from '../time/format.ts'
import { US_PER_MS } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import type { OutputBuffer } from './buffer-pool.ts'

/**
 * JSON as bytes, for the one place where it matters: the points of large answers. A string for each timestamp and
 * value, joined and then encoded, takes several times as long. Each function writes at `at` into a buffer, which the
 * caller has made large enough, and returns where the next one writes: a position in a local variable is what keeps the
 * loops fast. Text that is always the same is written eight bytes at a time, as doubles; no eight bytes of UTF-8 are a
 * NaN, so it arrives unchanged.
 */

/** Most bytes that one number takes: `-2.2250738585072014e-308` and some more. */
const LONGEST_NUMBER = 32

const ZERO = 48
const COMMA = 44
const POINT = 46
const MINUS = 45
const CLOSING_BRACKET = 93
/** The numbers that are written with integer arithmetic. */
const MOST_SCALED = 2_147_483_647

/** `00` to `99` as they stand in memory, low byte first. */
const PAIRS = Uint16Array.from({ length: 100 }, (_, n) => ZERO + ((n / 10) | 0) + ((ZERO + (n % 10)) << 8))
/** `000` to `999`, and a byte that is written over. */
const THREES = Uint32Array.from(
  { length: 1000 },
  (_, n) => PAIRS[(n / 10) | 0]! + (ZERO + (n % 10)) * 2 ** 16,
)
/** `.000` to `.999`. */
const FRACTIONS = Uint32Array.from(
  { length: 1000 },
  (_, n) => POINT + PAIRS[(n / 10) | 0]! * 256 + (ZERO + (n % 10)) * 2 ** 24,
)

/** A text to be written many times. */
export class FixedText {
  readonly length: number
  readonly #words: Float64Array

  constructor(text: string) {
    this.length = Buffer.byteLength(text)
    const padded = Buffer.alloc(Math.ceil(this.length / 8) * 8)
    padded.write(text)
    this.#words = Float64Array.from({ length: padded.length / 8 }, (_, word) => padded.readDoubleLE(word * 8))
  }

  /** Up to eight bytes after the text are written over: nothing is written there yet. */
  write(view: DataView, at: number): number {
    const words = this.#words
    for (let word = 0; word < words.length; word++) view.setFloat64(at + word * 8, words[word]!, true)
    return at + this.length
  }
}

/**
 * Writes a finite number as JSON.stringify does if it has at most ten digits, four of them decimals, as most
 * measurements have: a double that is equal to such a decimal has no shorter one, so the digits are the ones that
 * JSON.stringify finds. Only -0 is written otherwise: with its sign, which JSON has too, so that what was stored is
 * what is read.
 * @returns -1 for every other number, and then nothing is written
 */
export function writeShortNumber(view: DataView, at: number, value: number): number {
  const scaled = Math.round(value * 10_000)
  // Also false for NaN.
  if (!(scaled / 10_000 === value && scaled <= MOST_SCALED && scaled >= -MOST_SCALED)) return -1
  let rest = scaled | 0
  if (rest <= 0 && (rest < 0 || Object.is(value, -0))) {
    view.setUint8(at++, MINUS)
    rest = -rest | 0
  }
  const whole = (rest / 10_000) | 0
  const fraction = rest - whole * 10_000
  at = writeWhole(view, at, whole)
  if (fraction === 0) return at
  view.setUint8(at, POINT)
  const high = (fraction / 100) | 0
  const low = fraction - high * 100
  view.setUint16(at + 1, PAIRS[high]!, true)
  if (low === 0) return high % 10 === 0 ? at + 2 : at + 3
  view.setUint16(at + 3, PAIRS[low]!, true)
  return low % 10 === 0 ? at + 4 : at + 5
}

/** A whole number from 0 to 2^31 - 1. */
function writeWhole(view: DataView, at: number, whole: number): number {
  if (whole < 10) {
    view.setUint8(at, ZERO + whole)
    return at + 1
  }
  if (whole < 100) {
    view.setUint16(at, PAIRS[whole]!, true)
    return at + 2
  }
  const hundreds = (whole / 100) | 0
  at = writeWhole(view, at, hundreds)
  view.setUint16(at, PAIRS[whole - hundreds * 100]!, true)
  return at + 2
}

/** How many numbers are turned into text together: the first of a run of long ones alone, then ever more. */
const MOST_TOGETHER = 512
/** Bytes that a list may go beyond the place where its buffer is full. */
export const LIST_SLACK = MOST_TOGETHER * (LONGEST_NUMBER + 1)

/**
 * Writes the numbers of a column one by one, as JSON.stringify does, `null` for each that is not finite. Long ones come
 * from JSON.stringify itself, many at a time: that takes half as long as a string for each.
 */
export class NumberWriter {
  readonly #numbers: Float64Array
  /** The text of the numbers up to `#end`, a comma or bracket after each, of which what is before `#at` is written. */
  readonly #text: Buffer
  #at = 0
  #end = 0
  #together = 1
  /** Index of the first number that `writeList` has not written. */
  reached = 0

  constructor(numbers: Float64Array) {
    this.#numbers = numbers
    this.#text = Buffer.allocUnsafe(Math.min(numbers.length, MOST_TOGETHER) * LONGEST_NUMBER + 2)
  }

  /** @param index that of the call before and one more */
  write({ bytes, view }: OutputBuffer, at: number, index: number): number {
    if (index >= this.#end) {
      const after = writeShortNumber(view, at, this.#numbers[index]!)
      if (after >= 0) return after
      this.#text.write(this.#textFrom(index), 'latin1')
      this.#at = 1
    }
    const text = this.#text
    let from = this.#at
    for (;;) {
      const byte = text[from++]!
      if (byte === COMMA || byte === CLOSING_BRACKET) break
      bytes[at++] = byte
    }
    this.#at = from
    return at
  }

  /**
   * Goes on with the column as a list, a comma before each number, until `fullAt` is reached or there are no more.
   * @param fullAt where LIST_SLACK is left in the buffer
   */
  writeList({ bytes, view }: OutputBuffer, start: number, fullAt: number): number {
    const numbers = this.#numbers
    let at = start
    let i = this.reached
    while (i < numbers.length && at < fullAt) {
      const after = writeShortNumber(view, at + 1, numbers[i]!)
      if (after >= 0) {
        view.setUint8(at, COMMA)
        at = after
        i++
      } else {
        const text = this.#textFrom(i)
        bytes.write(text, at, 'latin1')
        // The opening bracket becomes the comma, and the next comma takes the place of the closing one.
        view.setUint8(at, COMMA)
        at += text.length - 1
        i = this.#end
      }
    }
    this.reached = i
    return at
  }

  /** Text of the numbers from an index to `#end`, which is set here, as JSON.stringify writes an array. */
  #textFrom(index: number): string {
    // Where long numbers are rare, the ones after this are short; where they are not, the next hundreds are long too.
    this.#together = index === this.#end && index > 0 ? Math.min(this.#together * 4, MOST_TOGETHER) : 4
    this.#end = Math.min(index + this.#together, this.#numbers.length)
    const list: number[] = []
    for (let i = index; i < this.#end; i++) {
      const value = this.#numbers[i]!
      // A short one, whose sign JSON.stringify would leave out.
      if (Object.is(value, -0)) this.#end = i
      else list.push(value)
    }
    return JSON.stringify(list)
  }
}

/**
 * A timestamp with the text around it, such as `{"timestamp":"2023-09-25T17:29:04.446+02:00","value":`. All of it but
 * the time of day is the same for the instants of a day.
 */
export class TimestampTemplate {
  readonly #before: string
  readonly #after: string
  readonly #day: DayText
  #text = new FixedText('')
  /** With six fraction digits; made when a microsecond first needs it. */
  #longText: FixedText | null = null
  #hoursAt = 0

  constructor(before: string, zone: TimeZone, after: string) {
    this.#before = before
    this.#after = after
    this.#day = new DayText(zone)
  }

  /** Whether an instant is of the day that the text is made for. */
  holds(instant: number): boolean {
    return instant >= this.#day.start && instant < this.#day.end
  }

  /** As FixedText, it writes over up to eight bytes after the text. */
  write(view: DataView, at: number, instant: number): number {
    const day = this.#day
    if (!this.holds(instant)) this.enter(instant)
    const inDay = instant - day.midnight
    const ms = (inDay / US_PER_MS) | 0
    const us = inDay - ms * US_PER_MS
    const seconds = (ms / 1000) | 0
    const minutes = (seconds / 60) | 0
    const hours = (minutes / 60) | 0
    const end = us === 0 ? this.#text.write(view, at) : this.#withMicros().write(view, at)
    const digits = at + this.#hoursAt
    view.setUint16(digits, PAIRS[hours]!, true)
    view.setUint16(digits + 3, PAIRS[minutes - hours * 60]!, true)
    view.setUint16(digits + 6, PAIRS[seconds - minutes * 60]!, true)
    view.setUint32(digits + 8, FRACTIONS[ms - seconds * 1000]!, true)
    if (us !== 0) {
      const hundreds = (us / 100) | 0
      view.setUint8(digits + 12, ZERO + hundreds)
      view.setUint16(digits + 13, PAIRS[us - hundreds * 100]!, true)
    }
    return end
  }

  /** Makes the text for the day of an instant. */
  enter(instant: number): void {
    this.#day.enter(instant)
    this.#hoursAt = this.#before.length + this.#day.date.length
    this.#text = this.#textWith('')
    this.#longText = null
  }

  #withMicros(): FixedText {
    this.#longText ??= this.#textWith('000')
    return this.#longText
  }

  #textWith(micros: string): FixedText {
    const { date, suffix } = this.#day
    return new FixedText(`${this.#before}${date}00:00:00.000${micros}${suffix}${this.#after}`)
  }
}

/** Microseconds for which the digits of epoch milliseconds before the last six are the same. */
const SAME_HEAD_US = 1_000_000_000

/**
 * Writes a column of instants as a list of epoch milliseconds, a comma before each. Doubles around them lie closer than
 * a thousandth, so that the text of one is exact.
 */
export class MillisWriter {
  readonly #times: Float64Array
  /** The instants from `#from` on for SAME_HEAD_US begin with this text, a comma first. */
  #head = new FixedText('')
  #from = Number.NaN
  /** Index of the first instant that `writeList` has not written. */
  reached = 0

  constructor(times: Float64Array) {
    this.#times = times
  }

  /** Goes on until `fullAt` is reached, where LIST_SLACK is left in the buffer, or there are no more. */
  writeList({ bytes, view }: OutputBuffer, start: number, fullAt: number): number {
    const times = this.#times
    let at = start
    let i = this.reached
    for (; i < times.length && at < fullAt; i++) {
      const us = times[i]!
      let inHead = us - this.#from
      // Also true for NaN.
      if (!(inHead >= 0 && inHead < SAME_HEAD_US)) {
        if (us < SAME_HEAD_US) {
          at += bytes.write(`,${us / US_PER_MS}`, at, 'latin1')
          continue
        }
        const head = Math.floor(us / SAME_HEAD_US)
        this.#head = new FixedText(`,${head}`)
        this.#from = head * SAME_HEAD_US
        inHead = us - this.#from
      }
      const ms = (inHead / US_PER_MS) | 0
      const rest = inHead - ms * US_PER_MS
      const thousands = (ms / 1000) | 0
      at = this.#head.write(view, at)
      view.setUint32(at, THREES[thousands]!, true)
      view.setUint32(at + 3, THREES[ms - thousands * 1000]!, true)
      at += 6
      if (rest !== 0) at = writeMicros(view, at, rest)
    }
    this.reached = i
    return at
  }
}

/** A fraction of 1 to 999 thousandths. */
function writeMicros(view: DataView, at: number, rest: number): number {
  view.setUint32(at, FRACTIONS[rest]!, true)
  at += 4
  while (view.getUint8(at - 1) === ZERO) at--
  return at
}
