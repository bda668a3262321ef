import { type Instant, instantFromUs, US_PER_DAY } from './instant.ts'
import { addCalendar } from './local.ts'
import { type Amount, addAmounts, amountOf, NO_TIME, unitNamed } from './units.ts'
import type { TimeZone } from './zone.ts'

/**
 * A length of time above zero: exact, or steps on a calendar (years and months, then weeks and days) followed
 * by exact time. A calendar duration has at least one step; `us` is exact time in microseconds.
 */
export type Duration = ExactDuration | CalendarDuration

export interface ExactDuration {
  readonly kind: 'exact'
  readonly us: number
}

export interface CalendarDuration {
  readonly kind: 'calendar'
  readonly years: number
  readonly months: number
  readonly weeks: number
  readonly days: number
  readonly us: number
}

/** No duration is written longer; keeps hostile input cheap. */
export const LONGEST_DURATION = 128

const DIGITS = String.raw`(\d{1,15}(?:\.\d{1,15})?)`
const BEGINS_WITH_DIGIT = /^\d/
const NUMBER = new RegExp(`^${DIGITS}$`)
const SIMPLE = new RegExp(`^${DIGITS} ?([A-Za-z]{1,12})$`)
const ISO = new RegExp(
  String.raw`^P(?=[\dT])(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?` +
    String.raw`(?:T(?=\d)(?:(\d{1,9}(?:[.,]\d{1,9})?)H)?(?:(\d{1,9}(?:[.,]\d{1,9})?)M)?(?:(\d{1,12}(?:[.,]\d{1,9})?)S)?)?$`,
  'i',
)

/**
 * A duration from its text: `90s`, `1.5h`, `1d`, `1w`, `1mo`, `1y` (units as in relative times), several of them joined
 * by `and` or a comma (`2 days and 5 seconds`), ISO 8601 (`PT1H`, `P1D`, `P1DT6H`), or a number of milliseconds. Whole
 * days and longer are calendar steps, decimals of days and weeks exact time.
 * @returns null for anything else, for zero, for decimals of a month or year, for more than 600 years, and
 *          for `1M`, which could be a minute or a month
 */
export function parseDuration(text: string): Duration | null {
  const trimmed = text.length <= LONGEST_DURATION ? text.trim() : ''
  const number = NUMBER.exec(trimmed)
  if (number !== null) return ofAmount(amountOf(number[1]!, unitNamed('ms')!), 0, 0)
  const iso = ISO.exec(trimmed)
  return iso === null ? parseSum(trimmed) : parseIso(iso)
}

/** `1h`, or several such joined by `and` or a comma. */
function parseSum(text: string): Duration | null {
  // Most texts of which it is asked are names of tags.
  if (!BEGINS_WITH_DIGIT.test(text)) return null
  let [sum, years, weeks]: [Amount | null, number, number] = [NO_TIME, 0, 0]
  for (const part of text.split(/ *, *(?:and +)?| +and +/i)) {
    const [, digits = '', name = ''] = SIMPLE.exec(part) ?? []
    const unit = name === 'M' ? null : unitNamed(name.toLowerCase())
    const amount = unit === null ? null : amountOf(digits, unit)
    sum = amount === null ? null : addAmounts(sum, amount)
    if (sum === null) return null
    if (unit?.kind !== 'calendar') continue
    if (unit.months === 12) years += amount!.months / 12
    if (unit.days === 7) weeks += amount!.days / 7
  }
  return ofAmount(sum, years, weeks)
}

const ISO_UNITS = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'] as const

function parseIso(match: RegExpExecArray): Duration | null {
  const groups = match.slice(1)
  // Only the smallest part that is given may have decimals.
  const smallest = groups.findLastIndex((part) => part !== undefined)
  let sum: Amount | null = NO_TIME
  for (const [index, name] of ISO_UNITS.entries()) {
    const part = groups[index]
    if (part === undefined) continue
    if (index !== smallest && /[.,]/.test(part)) return null
    const amount = amountOf(part, unitNamed(name)!)
    sum = amount === null ? null : addAmounts(sum, amount)
    if (sum === null) return null
  }
  return ofAmount(sum, Number(groups[0] ?? 0), Number(groups[2] ?? 0))
}

/** @param years, weeks how many of the amount's months and days were written as years and weeks */
function ofAmount(amount: Amount | null, years: number, weeks: number): Duration | null {
  if (amount === null) return null
  const { months, days, us } = amount
  if (months === 0 && days === 0) return us > 0 ? { kind: 'exact', us } : null
  return { kind: 'calendar', years, months: months - years * 12, weeks, days: days - weeks * 7, us }
}

/** Calendar months of one step, years included. */
export function monthsOf(duration: CalendarDuration): number {
  return duration.years * 12 + duration.months
}

/** Calendar days of one step, weeks included. */
export function daysOf(duration: CalendarDuration): number {
  return duration.weeks * 7 + duration.days
}

/**
 * A duration as the divisor of a rate, in microseconds: a day is 24 hours and a week 168.
 * @returns null when it has months or years, which have no fixed length
 */
export function rateUs(duration: Duration): number | null {
  if (duration.kind === 'exact') return duration.us
  return monthsOf(duration) === 0 ? daysOf(duration) * US_PER_DAY + duration.us : null
}

/** The length of a duration text that has a fixed one, in microseconds: a day is 24 hours and a week 168; else null. */
export function fixedDurationUs(text: string): number | null {
  const duration = parseDuration(text)
  return duration === null ? null : rateUs(duration)
}

/**
 * The instant a number of times a duration after another, before it when `times` is negative. Calendar steps
 * are all taken at once from `at`, so that months do not drift (31 January plus 2 months is 31 March), and
 * keep the wall clock of the zone. May leave the accepted range.
 */
export function addDuration(at: Instant, duration: Duration, zone: TimeZone, times = 1): Instant {
  if (duration.kind === 'exact') return instantFromUs(at + duration.us * times)
  const moved = addCalendar(at, monthsOf(duration) * times, daysOf(duration) * times, zone)
  return instantFromUs(moved + duration.us * times)
}
