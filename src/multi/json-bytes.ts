import type { MinuteText } from '../time/format.ts'
import { US_PER_MS, US_PER_SECOND } from '../time/instant.ts'

/**
 * JSON as bytes, for the one place where it matters: the points of large answers. A string for each timestamp and value,
 * joined and then encoded, takes twice as long. Each function writes at `at` into `bytes`, which the caller has made large
 * enough, and answers where the next one writes: a position in a local variable is what keeps the loops fast.
 */

/** Most bytes that one number takes: `-2.2250738585072014e-308` and some more. */
export const LONGEST_NUMBER = 32
/** Most bytes that one instant takes: `2023-09-25T17:29:04.446123+00:53:28` and some more. */
export const LONGEST_INSTANT = 48

const ZERO = 48
const POINT = 46
const MINUS = 45

/** Text of one byte a character. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}

/** Bytes that were encoded before; for short ones, where a loop beats the call that `set` is. */
export function writeBytes(bytes: Uint8Array, at: number, fragment: Uint8Array): number {
  const { length } = fragment
  for (let i = 0; i < length; i++) bytes[at + i] = fragment[i]!
  return at + length
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

/** A whole number from 0 to 99,999. */
function writeWhole(bytes: Uint8Array, at: number, whole: number): number {
  const digits = whole < 10 ? 1 : whole < 100 ? 2 : whole < 1000 ? 3 : whole < 10_000 ? 4 : 5
  let left = whole
  for (let i = at + digits - 1; i >= at; i--) {
    const tenth = (left / 10) | 0
    bytes[i] = ZERO + left - tenth * 10
    left = tenth
  }
  return at + digits
}

/** An instant as `formatInstant` writes it, without quotes. */
export function writeInstant(bytes: Uint8Array, at: number, instant: number, minute: MinuteText): number {
  if (instant < minute.start || instant >= minute.end) minute.enter(instant)
  at = writeAscii(bytes, at, minute.prefix)
  const inMinute = (instant - minute.origin) | 0
  const seconds = (inMinute / US_PER_SECOND) | 0
  const inSecond = inMinute - seconds * US_PER_SECOND
  const ms = (inSecond / US_PER_MS) | 0
  const us = inSecond - ms * US_PER_MS
  const tens = (seconds / 10) | 0
  bytes[at] = ZERO + tens
  bytes[at + 1] = ZERO + seconds - tens * 10
  bytes[at + 2] = POINT
  at = writeThreeDigits(bytes, at + 3, ms)
  if (us !== 0) at = writeThreeDigits(bytes, at, us)
  return writeAscii(bytes, at, minute.suffix)
}

/** An instant as epoch milliseconds with all its digits: dividing the double would be off in the last of them. */
export function writeMillis(bytes: Uint8Array, at: number, us: number): number {
  const whole = Math.trunc(us / US_PER_MS)
  const rest = Math.abs(us - whole * US_PER_MS)
  if (us < 0 && whole === 0 && rest !== 0) bytes[at++] = MINUS
  at = writeAscii(bytes, at, String(whole))
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
