import { readCommonInstant } from './common-forms.ts'
import { US_PER_MINUTE, US_PER_SECOND } from './instant.ts'

const DOT = 46
const COLON = 58
const UPPER_Z = 90
/** `YYYY-MM-DDTHH:` */
const HEAD = 14
/** `YYYY-MM-DDTHH:MM:SS` */
const WHOLE = 19
/** Of the longest form, with six fraction digits. */
const LONGEST = 27
const NO_DIGITS = -1
/** Four bytes that are in no text: a body of zeros is not taken for the hour of 1970 with which all begins. */
const NO_TEXT = -1
/** The text that the beginning of an hour is read from; in use only while it is read. */
const HOUR_TEXT = new TextEncoder().encode('0000-00-00T00:00:00Z')

/**
 * Reads many times in the form that programs write them in UTC, `YYYY-MM-DDTHH:MM:SS[.fff[fff]]Z`, from one text as
 * bytes. Times that follow each other are mostly of the same hour, whose beginning is compared and not read again: of
 * 24 characters minutes, seconds and the fraction are left.
 */
export class InstantScan {
  readonly #bytes: Uint8Array
  readonly #words: DataView
  /** `YYYY-MM-DDTHH:` of the last time, as it stands in memory: four bytes each from 0, 4, 8 and 10 on. */
  #head = NO_TEXT
  #head4 = NO_TEXT
  #head8 = NO_TEXT
  #head10 = NO_TEXT
  /** The instant of that hour, in an array: a double in a field is an object of its own, made anew for each other. */
  readonly #hour = new Float64Array(1)

  /**
   * @param bytes  valid UTF-8
   * @param words  the same bytes
   */
  constructor(bytes: Uint8Array, words: DataView) {
    this.#bytes = bytes
    this.#words = words
  }

  /**
   * Reads the time that begins at `at` into `target[index]`, as an instant in microseconds.
   * @returns where it ends; -1 for every other form, valid or invalid, and near the end of the bytes: then nothing was
   *          written
   */
  readAt(at: number, target: Float64Array, index: number): number {
    const bytes = this.#bytes
    const words = this.#words
    if (at + LONGEST > bytes.length) return -1
    if (
      (words.getInt32(at + 8, true) !== this.#head8 ||
        words.getInt32(at + 10, true) !== this.#head10 ||
        words.getInt32(at + 4, true) !== this.#head4 ||
        words.getInt32(at, true) !== this.#head) &&
      !this.#keepHour(at)
    ) {
      return -1
    }
    const minutes = twoDigits(bytes, at + HEAD)
    const seconds = twoDigits(bytes, at + 17)
    if (minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 || bytes[at + 16] !== COLON) return -1
    let us = minutes * US_PER_MINUTE + seconds * US_PER_SECOND
    let end = at + WHOLE
    if (bytes[end] === DOT) {
      const thousandths = threeDigits(bytes, end + 1)
      if (thousandths < 0) return -1
      us += thousandths * 1_000
      end += 4
      if (bytes[end] !== UPPER_Z) {
        const millionths = threeDigits(bytes, end)
        if (millionths < 0) return -1
        us += millionths
        end += 3
      }
    }
    if (bytes[end] !== UPPER_Z) return -1
    target[index] = this.#hour[0]! + us
    return end + 1
  }

  /**
   * Notes the hour of the time at `at`; false where none begins. The instants that are accepted begin and end with an
   * hour (instant.ts), so that all of an hour is accepted with its beginning.
   */
  #keepHour(at: number): boolean {
    const words = this.#words
    HOUR_TEXT.set(this.#bytes.subarray(at, at + HEAD))
    if (!readCommonInstant(HOUR_TEXT, 0, HOUR_TEXT.length, this.#hour, 0)) return false
    this.#head = words.getInt32(at, true)
    this.#head4 = words.getInt32(at + 4, true)
    this.#head8 = words.getInt32(at + 8, true)
    this.#head10 = words.getInt32(at + 10, true)
    return true
  }
}

/** Negative unless both are digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - 48
  const ones = bytes[at + 1]! - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_DIGITS
}

/** Negative unless all are digits. */
function threeDigits(bytes: Uint8Array, at: number): number {
  const high = twoDigits(bytes, at)
  const ones = bytes[at + 2]! - 48
  return high >= 0 && ones >= 0 && ones <= 9 ? high * 10 + ones : NO_DIGITS
}
