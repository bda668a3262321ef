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
/** Where a text is laid out as bytes; in use only while it is read. */
const BYTES = new Uint8Array(LONGEST)
/** Microseconds of a digit of the fraction, by its place. */
const US_OF_DIGIT = [100_000, 10_000, 1_000, 100, 10, 1]

/**
 * The forms that programs write, `YYYY-MM-DDTHH:MM:SS[.f...]` with `Z` or `+HH:MM` and at most six fraction
 * digits, read without a regular expression: a write of 50,000 points is mostly these.
 * @returns null for everything else, right or wrong: then instantOfIso decides, which reads these forms alike
 */
export function instantOfCommonForm(text: string): Instant | null {
  const { length } = text
  if (length < SHORTEST || length > LONGEST) return null
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 127) return null
    BYTES[i] = unit
  }
  return instantOfCommonBytes(BYTES, 0, length)
}

/** The same for a text in the bytes from `start` up to and without `end`, in any encoding that has ASCII in it. */
export function instantOfCommonBytes(bytes: Uint8Array, start: number, end: number): Instant | null {
  const length = end - start
  if (length < SHORTEST || length > LONGEST) return null
  if (
    bytes[start + 4] !== DASH ||
    bytes[start + 7] !== DASH ||
    bytes[start + 10] !== UPPER_T ||
    bytes[start + 13] !== COLON ||
    bytes[start + 16] !== COLON
  ) {
    return null
  }
  const century = twoDigits(bytes, start)
  const yearOfCentury = twoDigits(bytes, start + 2)
  const hours = twoDigits(bytes, start + 11)
  const minutes = twoDigits(bytes, start + 14)
  const seconds = twoDigits(bytes, start + 17)
  if (century < 0 || yearOfCentury < 0) return null
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return null
  const day = daysFromDate(
    century * 100 + yearOfCentury,
    twoDigits(bytes, start + 5),
    twoDigits(bytes, start + 8),
  )
  if (day === null) return null

  let at = start + 19
  let us = 0
  if (bytes[at] === DOT) {
    const first = ++at
    for (; at < end; at++) {
      const digit = bytes[at]! - 48
      if (digit < 0 || digit > 9) break
      if (at - first > 5) return null
      us += digit * US_OF_DIGIT[at - first]!
    }
    if (at === first) return null
  }

  const offset = offsetAt(bytes, at, end)
  if (offset === null) return null
  const instant =
    day * US_PER_DAY + hours * US_PER_HOUR + minutes * US_PER_MINUTE + seconds * US_PER_SECOND + us - offset
  return isAccepted(instant) ? instant : null
}

/** The offset that is the whole rest of the text, in microseconds. */
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
