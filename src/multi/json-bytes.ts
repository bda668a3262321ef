import { MinuteText } from '../time/format.ts'
import { US_PER_MS, US_PER_SECOND } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'

/**
 * JSON as bytes, for the one place where it matters: the points of large answers. A string for each timestamp and value,
 * joined and then encoded, takes twice as long. Each function writes at `at` into `bytes`, which the caller has made large
 * enough, and answers where the next one writes: a position in a local variable is what keeps the loops fast.
 */

/** Most bytes that one number takes: `-2.2250738585072014e-308` and some more. */
export const LONGEST_NUMBER = 32
/** Most bytes that one instant takes: `2023-09-25T17:29:04.446123+00:53:28` and some more. */
const LONGEST_INSTANT = 48

const ZERO = 48
const POINT = 46
const MINUS = 45
const NOTHING = new Uint8Array(0)
/** `29.446` */
const SECONDS_LENGTH = 6

/** Text of one byte a character. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}

/**
 * A finite number as JSON.stringify writes it, `null` for any other.
 *
 * Numbers of up to nine digits, four of them decimals, which most measurements are, are written here: a double that is
 * equal to such a decimal has no shorter one, so the digits are the ones that JSON.stringify finds.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const scaled = Math.round(value * 10_000)
  if (scaled / 10_000 !== value || scaled > 999_999_999 || scaled < -999_999_999) {
    return writeAscii(bytes, at, Number.isFinite(value) ? String(value) : 'null')
  }
  let rest = scaled | 0
  if (rest < 0) {
    bytes[at++] = MINUS
    rest = -rest
  }
  const whole = (rest / 10_000) | 0
  at = writeWhole(bytes, at, whole)
  let fraction = rest - whole * 10_000
  if (fraction === 0) return at
  bytes[at++] = POINT
  for (let unit = 1000; fraction > 0; unit = (unit / 10) | 0) {
    const digit = (fraction / unit) | 0
    bytes[at++] = ZERO + digit
    fraction -= digit * unit
  }
  return at
}

/** A whole number from 0 to 2^31 - 1. */
function writeWhole(bytes: Uint8Array, at: number, whole: number): number {
  let end = at + 1
  for (let bound = 10; whole >= bound; bound *= 10) end++
  let left = whole | 0
  for (let i = end - 1; i >= at; i--) {
    const tenth = (left / 10) | 0
    bytes[i] = ZERO + left - tenth * 10
    left = tenth
  }
  return end
}

/**
 * A timestamp with the text around it, such as `{"timestamp":"2023-09-25T17:29:04.446+02:00","value":`. All of it but a few
 * digits is the same for the instants of a minute, so it is kept as bytes, patched and copied as a whole.
 */
export class TimestampTemplate {
  readonly #before: string
  readonly #after: string
  readonly #minute: MinuteText
  /** With three and with six fraction digits; the second is made when a microsecond first needs it. */
  #millis = NOTHING
  #micros = NOTHING
  #secondsAt = 0

  constructor(before: string, zone: TimeZone, after: string) {
    this.#before = before
    this.#after = after
    this.#minute = new MinuteText(zone)
  }

  /** Most bytes that one timestamp with its surroundings takes. */
  get longest(): number {
    return this.#before.length + LONGEST_INSTANT + this.#after.length
  }

  write(bytes: Uint8Array, at: number, instant: number): number {
    const minute = this.#minute
    if (instant < minute.start || instant >= minute.end) this.#enter(instant)
    const inMinute = (instant - minute.origin) | 0
    const seconds = (inMinute / US_PER_SECOND) | 0
    const inSecond = inMinute - seconds * US_PER_SECOND
    const ms = (inSecond / US_PER_MS) | 0
    const us = inSecond - ms * US_PER_MS
    const template = us === 0 ? this.#millis : this.#withMicros()
    const digits = this.#secondsAt
    const tens = (seconds / 10) | 0
    template[digits] = ZERO + tens
    template[digits + 1] = ZERO + seconds - tens * 10
    writeThreeDigits(template, digits + 3, ms)
    if (us !== 0) writeThreeDigits(template, digits + 6, us)
    bytes.set(template, at)
    return at + template.length
  }

  #enter(instant: number): void {
    const minute = this.#minute
    minute.enter(instant)
    const head = this.#before + minute.prefix
    this.#secondsAt = head.length
    const length = head.length + SECONDS_LENGTH + minute.suffix.length + this.#after.length
    // Most minutes differ from the one before in a digit or two: what is there is written over, not made anew.
    if (this.#millis.length !== length) this.#millis = new Uint8Array(length)
    let at = writeAscii(this.#millis, 0, head)
    at = writeAscii(this.#millis, at, '00.000')
    at = writeAscii(this.#millis, at, minute.suffix)
    writeAscii(this.#millis, at, this.#after)
    this.#micros = NOTHING
  }

  #withMicros(): Uint8Array {
    if (this.#micros.length === 0) {
      const secondsEnd = this.#secondsAt + SECONDS_LENGTH
      this.#micros = new Uint8Array(this.#millis.length + 3)
      this.#micros.set(this.#millis.subarray(0, secondsEnd))
      this.#micros.set(this.#millis.subarray(secondsEnd), secondsEnd + 3)
    }
    return this.#micros
  }
}

/** An instant as epoch milliseconds with all its digits: dividing the double would be off in the last of them. */
export function writeMillis(bytes: Uint8Array, at: number, us: number): number {
  if (us < 0) {
    bytes[at++] = MINUS
    us = -us
  }
  // Parts of at most seven digits, so that this is integer arithmetic.
  const seconds = Math.floor(us / US_PER_SECOND)
  const inSecond = us - seconds * US_PER_SECOND
  const thousands = (seconds / 1000) | 0
  const ms = (inSecond / US_PER_MS) | 0
  const rest = inSecond - ms * US_PER_MS
  if (thousands > 0) {
    at = writeWhole(bytes, at, thousands)
    at = writeThreeDigits(bytes, at, seconds - thousands * 1000)
    at = writeThreeDigits(bytes, at, ms)
  } else {
    at = writeWhole(bytes, at, seconds * 1000 + ms)
  }
  if (rest === 0) return at
  bytes[at++] = POINT
  at = writeThreeDigits(bytes, at, rest)
  while (bytes[at - 1] === ZERO) at--
  return at
}

function writeThreeDigits(bytes: Uint8Array, at: number, number: number): number {
  const hundreds = (number / 100) | 0
  const rest = number - hundreds * 100
  const tens = (rest / 10) | 0
  bytes[at] = ZERO + hundreds
  bytes[at + 1] = ZERO + tens
  bytes[at + 2] = ZERO + rest - tens * 10
  return at + 3
}
