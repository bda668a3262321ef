import { daysFromDate } from './civil.ts'
import { type Instant, isAccepted, US_PER_DAY, US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './instant.ts'

const DASH = 45
const PLUS = 43
const COLON = 58
const DOT = 46
const UPPER_T = 84
const UPPER_Z = 90

/**
 * The forms that programs write, `YYYY-MM-DDTHH:MM:SS[.f...]` with `Z` or `+HH:MM` and at most six fraction
 * digits, read without a regular expression: a write of 50,000 points is mostly these.
 * @returns null for everything else, right or wrong: then instantOfIso decides, which reads these forms alike
 */
export function instantOfCommonForm(text: string): Instant | null {
  const length = text.length
  if (length < 20 || length > 32) return null
  if (
    text.charCodeAt(4) !== DASH ||
    text.charCodeAt(7) !== DASH ||
    text.charCodeAt(10) !== UPPER_T ||
    text.charCodeAt(13) !== COLON ||
    text.charCodeAt(16) !== COLON
  ) {
    return null
  }
  const century = twoDigits(text, 0)
  const yearOfCentury = twoDigits(text, 2)
  const hours = twoDigits(text, 11)
  const minutes = twoDigits(text, 14)
  const seconds = twoDigits(text, 17)
  if (century < 0 || yearOfCentury < 0) return null
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return null
  const day = daysFromDate(century * 100 + yearOfCentury, twoDigits(text, 5), twoDigits(text, 8))
  if (day === null) return null

  let end = 19
  let us = 0
  if (text.charCodeAt(19) === DOT) {
    let scale = 100_000
    for (end = 20; end < length; end++) {
      const digit = text.charCodeAt(end) - 48
      if (digit < 0 || digit > 9) break
      if (end > 25) return null
      us += digit * scale
      scale /= 10
    }
    if (end === 20) return null
  }

  const offset = offsetAt(text, end)
  if (offset === null) return null
  const at =
    day * US_PER_DAY + hours * US_PER_HOUR + minutes * US_PER_MINUTE + seconds * US_PER_SECOND + us - offset
  return isAccepted(at) ? at : null
}

/** The offset that is the whole rest of the text, in microseconds. */
function offsetAt(text: string, start: number): number | null {
  const sign = text.charCodeAt(start)
  if (sign === UPPER_Z) return text.length === start + 1 ? 0 : null
  if ((sign !== PLUS && sign !== DASH) || text.length !== start + 6 || text.charCodeAt(start + 3) !== COLON) {
    return null
  }
  const hours = twoDigits(text, start + 1)
  const minutes = twoDigits(text, start + 4)
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return null
  const us = hours * US_PER_HOUR + minutes * US_PER_MINUTE
  return sign === DASH ? -us : us
}

/** Negative unless both are digits. */
function twoDigits(text: string, index: number): number {
  const tens = text.charCodeAt(index) - 48
  const ones = text.charCodeAt(index + 1) - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}
