import {
  END_INSTANT,
  type Instant,
  instantFromUs,
  isAccepted,
  MIN_INSTANT,
  US_PER_MS,
  US_PER_SECOND,
} from './instant.ts'

/**
 * Absolute values below this are seconds since 1970 (until the year 5138), others milliseconds (from March
 * 1973).
 */
const FIRST_MILLISECONDS = 100_000_000_000

export type EpochUnit = 's' | 'ms' | 'us'

const US_PER = { s: US_PER_SECOND, ms: US_PER_MS, us: 1 } as const satisfies Record<EpochUnit, number>

/**
 * The instant of a number of seconds, milliseconds or microseconds since 1970, rounded to the nearest
 * microsecond, halves to the later one.
 * @returns null for what is not finite, and outside the accepted range
 */
export function numberToInstant(x: number, unit: EpochUnit): Instant | null {
  const perUnit = US_PER[unit]
  const whole = Math.trunc(x)
  // x * 1e6 would lose the last digits far from 1970; both parts of the split are exact.
  const us = whole * perUnit + Math.round((x - whole) * perUnit)
  return isAccepted(us) ? instantFromUs(us + 0) : null
}

/**
 * The instant of a JSON number: seconds or milliseconds since 1970 by its size. Null as `numberToInstant`.
 */
export function instantOfEpochNumber(x: number): Instant | null {
  return numberToInstant(x, x > -FIRST_MILLISECONDS && x < FIRST_MILLISECONDS ? 's' : 'ms')
}

/**
 * Turns numbers into their instants in place, from `start` up to and without `end`, each as `numberToInstant` does, or
 * as `instantOfEpochNumber` where `unit` is null.
 * @returns false when there is one that is no instant; those before it are turned then
 */
export function numbersToInstants(
  numbers: Float64Array,
  start: number,
  end: number,
  unit: EpochUnit | null,
): boolean {
  const usPerUnit = unit === null ? 0 : US_PER[unit]
  for (let i = start; i < end; i++) {
    const number = numbers[i]!
    const perUnit = usPerUnit === 0 ? usPerEpochNumber(number) : usPerUnit
    let us = number * perUnit
    if (Math.trunc(number) !== number) {
      const at = numberToInstant(number, unit ?? (perUnit === US_PER_MS ? 'ms' : 's'))
      if (at === null) return false
      us = at
    }
    if (!(us >= MIN_INSTANT && us < END_INSTANT)) return false
    // Without a negative zero.
    numbers[i] = us + 0
  }
  return true
}

function usPerEpochNumber(x: number): number {
  return x > -FIRST_MILLISECONDS && x < FIRST_MILLISECONDS ? US_PER_SECOND : US_PER_MS
}

const EPOCH = /^([+-]?)(\d{1,40})(?:\.(\d{1,40}))?$/

/**
 * The instant of a text of digits with optional sign and fraction: seconds or milliseconds since 1970 by its
 * size; digits beyond the microsecond are cut.
 * @returns undefined when the text is no such number, null when it is but lies outside the accepted range
 */
export function instantOfEpochText(text: string): Instant | null | undefined {
  const match = EPOCH.exec(text)
  if (match === null) return undefined
  const [, sign, digits = '', fraction = ''] = match
  const whole = Number(digits)
  const us =
    whole < FIRST_MILLISECONDS
      ? whole * US_PER_SECOND + fractionUs(fraction, 6)
      : whole * US_PER_MS + fractionUs(fraction, 3)
  const signed = sign === '-' ? 0 - us : us
  return isAccepted(signed) ? instantFromUs(signed) : null
}

/** The first `places` digits of a fraction as a whole number: `5` of 6 places is 500000. */
export function fractionUs(fraction: string, places: number): number {
  return Number(fraction.slice(0, places).padEnd(places, '0'))
}
