import { daysFromDate } from './civil.ts'
import { type Instant, isAccepted, US_PER_DAY, US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './instant.ts'

const DASH = 45
const PLUS = 43
const COLON = 58
const DOT = 46
const UPPER_T = 84
const UPPER_Z = 90

const SHORTEST = 20
const LONGEST = 32
/** Buffer of a text as bytes; in use only while it is read. */
const BYTES = new Uint8Array(LONGEST)
/** The instant of such a text. */
const FOUND = new Float64Array(1)
/** Microseconds of a digit of the fraction, by its place. */
const US_OF_DIGIT = [100_000, 10_000, 1_000, 100, 10, 1]

/**
 * The forms that programs write, `YYYY-MM-DDTHH:MM:SS[.f...]` with `Z` or `+HH:MM` and at most six fraction
 * digits, read without a regular expression: a write of 50,000 points is mostly these.
 * @returns null for everything else, valid or invalid: then readIso decides, which reads these forms alike
 */
export function instantOfCommonForm(text: string): Instant | null {
  const { length } = text
  if (length < SHORTEST || length > LONGEST) return null
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 127) return null
    BYTES[i] = unit
  }
  return readCommonInstant(BYTES, 0, length, FOUND, 0) ? (FOUND[0] as Instant) : null
}

/**
 * The same for a text in the bytes from `start` up to and without `end`, in any encoding that has ASCII in it.
 * @param target  has the instant written to `index`: one that is given back is an object for each point
 * @returns       false for what is in no such form, and then nothing is written
 */
export function readCommonInstant(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Float64Array,
  index: number,
): boolean {
  const length = end - start
  if (length < SHORTEST || length > LONGEST) return false
  if (
    bytes[start + 4] !== DASH ||
    bytes[start + 7] !== DASH ||
    bytes[start + 10] !== UPPER_T ||
    bytes[start + 13] !== COLON ||
    bytes[start + 16] !== COLON
  ) {
    return false
  }
  const century = twoDigits(bytes, start)
  const yearOfCentury = twoDigits(bytes, start + 2)
  const hours = twoDigits(bytes, start + 11)
  const minutes = twoDigits(bytes, start + 14)
  const seconds = twoDigits(bytes, start + 17)
  if (century < 0 || yearOfCentury < 0) return false
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return false
  const day = daysFromDate(
    century * 100 + yearOfCentury,
    twoDigits(bytes, start + 5),
    twoDigits(bytes, start + 8),
  )
  if (day === null) return false

  let at = start + 19
  let us = 0
  if (bytes[at] === DOT) {
    const first = ++at
    for (; at < end; at++) {
      const digit = bytes[at]! - 48
      if (digit < 0 || digit > 9) break
      if (at - first > 5) return false
      us += digit * US_OF_DIGIT[at - first]!
    }
    if (at === first) return false
  }

  const offset = offsetAt(bytes, at, end)
  if (offset === null) return false
  const instant =
    day * US_PER_DAY + hours * US_PER_HOUR + minutes * US_PER_MINUTE + seconds * US_PER_SECOND + us - offset
  if (!isAccepted(instant)) return false
  target[index] = instant
  return true
}

/** The offset that is the whole remainder of the text, in microseconds. */
function offsetAt(bytes: Uint8Array, start: number, end: number): number | null {
  const sign = bytes[start]
  if (sign === UPPER_Z) return end === start + 1 ? 0 : null
  if ((sign !== PLUS && sign !== DASH) || end !== start + 6 || bytes[start + 3] !== COLON) return null
  const hours = twoDigits(bytes, start + 1)
  const minutes = twoDigits(bytes, start + 4)
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return null
  const us = hours * US_PER_HOUR + minutes * US_PER_MINUTE
  return sign === DASH ? -us : us
}

/** Negative unless both are digits. */
function twoDigits(bytes: Uint8Array, index: number): number {
  const tens = bytes[index]! - 48
  const ones = bytes[index + 1]! - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}
