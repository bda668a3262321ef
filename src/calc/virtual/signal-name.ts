import { nearestName } from '../../grammar/nearest.ts'
import { parseNumber } from '../../grammar/number.ts'
import { US_PER_MS, US_PER_SECOND } from '../../time/instant.ts'
import { WAVEFORMS } from './waveforms.ts'

/** A signal as the name of a siggen tag describes it. */
export interface SignalSettings {
  /** A name of WAVEFORMS, or `rand`. */
  readonly kind: string
  readonly amplitude: number
  /** What the signal swings around. */
  readonly level: number
  /** 0 to 2^32 - 1; only of `rand`. */
  readonly seed: number
  readonly periodUs: number
  /** Where phase 0 lies. */
  readonly originUs: number
}

export const RANDOM = 'rand'

/** A hundredth of a shorter one would be no microsecond. */
const MIN_PERIOD_US = 100
/** 1,000,000,000 s, some 32 years: four times a phase must stay a whole number that a double holds. */
const MAX_PERIOD_US = 1e15
/** As far from the epoch as times are accepted, and a little more. */
const MAX_ORIGIN_US = 9e15
const MAX_SEED = 2 ** 32 - 1

const WORD = /[a-z]*/y
const AMPLITUDE = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/y
const LEVEL = /[+-](?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/y
const PERIOD = /(?:\d+(?:\.\d*)?|\.\d+)/y
const SHIFT = /[+-](?:\d+(?:\.\d*)?|\.\d+)/y

/**
 * Reads the name of a siggen tag, `<function><amplitude>[~<seed>][+|-<y offset>]@<period s>[+|-<x offset ms>]`, in any
 * case.
 * @returns the reason when it is none, as the end of a sentence
 */
export function parseSignalName(name: string): SignalSettings | { readonly reason: string } {
  const reader = new Reader(name.toLowerCase())
  const word = reader.take(WORD) ?? ''
  const kinds = [...WAVEFORMS.keys(), RANDOM]
  if (!kinds.includes(word)) {
    const hint = word === '' ? '' : ` (did you mean ${nearestName(word, kinds)}?)`
    return { reason: `one of ${kinds.join(', ')} is expected first${hint}` }
  }
  const amplitude = reader.number(AMPLITUDE)
  if (amplitude === null) return { reason: `an amplitude such as 10 is expected after ${word}` }
  let seed = 0
  if (reader.take(/~/y) !== null) {
    if (word !== RANDOM) return { reason: `only ${RANDOM} takes a seed` }
    const number = reader.number(/\d+/y)
    if (number === null || number > MAX_SEED) {
      return { reason: `a whole number of 0 to ${MAX_SEED} is expected after ~` }
    }
    seed = number
  }
  const level = reader.optional(LEVEL)
  if (level === null || !Number.isFinite(Math.abs(amplitude) + Math.abs(level))) {
    return { reason: 'amplitude and y offset are too large' }
  }
  if (reader.take(/@/y) === null) return { reason: '@ and the period in seconds are expected' }
  const periodUs = wholeUs(reader.take(PERIOD), US_PER_SECOND)
  if (periodUs === null || periodUs < MIN_PERIOD_US || periodUs > MAX_PERIOD_US) {
    return { reason: 'a period of 0.0001 to 1000000000 s with at most 6 decimals is expected after @' }
  }
  const shift = reader.take(SHIFT)
  const originUs = shift === null ? 0 : wholeUs(shift, US_PER_MS)
  if (originUs === null || Math.abs(originUs) > MAX_ORIGIN_US) {
    return { reason: 'an x offset of up to 9000000000000 ms with at most 3 decimals is expected' }
  }
  if (!reader.atEnd()) return { reason: `nothing is expected after ${reader.taken()}` }
  return { kind: word, amplitude, level, seed, periodUs, originUs }
}

/**
 * A decimal number times its unit in microseconds, exactly.
 * @returns `null` when that is not whole, or more than a double holds exactly
 */
function wholeUs(text: string | null, unitUs: number): number | null {
  if (text === null) return null
  const [, sign, whole = '', fraction = ''] = /^([+-]?)(\d*)\.?(\d*)$/.exec(text)!
  const decimals = String(unitUs).length - 1
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) return null
  const us = Number(whole + digits.padEnd(decimals, '0'))
  if (!Number.isSafeInteger(us)) return null
  return sign === '-' ? 0 - us : us
}

/** Takes a text apart from left to right. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** What stands next, when it is of a (sticky) form. */
  take(form: RegExp): string | null {
    form.lastIndex = this.#at
    const match = form.exec(this.#text)
    if (match === null) return null
    this.#at += match[0].length
    return match[0]
  }

  /** A number that stands next; `null` when there is none, or one too large. */
  number(form: RegExp): number | null {
    const text = this.take(form)
    return text === null ? null : parseNumber(text)
  }

  /** As `number`, but 0 when there is none. */
  optional(form: RegExp): number | null {
    const text = this.take(form)
    return text === null ? 0 : parseNumber(text)
  }

  atEnd(): boolean {
    return this.#at === this.#text.length
  }

  taken(): string {
    return this.#text.slice(0, this.#at)
  }
}
