import { addMonths, daysInMonth, firstDayOfMonth, monthIndexOf } from './civil.ts'
import { type CalendarDuration, type Duration, daysOf, monthsOf } from './duration.ts'
import { US_PER_DAY, US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './instant.ts'

/**
 * Boundaries as local times, ascending: microseconds since 1970-01-01T00:00 on the clocks of a zone, by their number.
 * They go on without end in both directions.
 */
export interface LocalBoundaries {
  at(index: number): number
  /** Number of the first one at or after a local time. */
  firstFrom(local: number): number
}

/** An anchor that does not fit, with what is expected. */
export interface InvalidAnchor {
  readonly expected: string
}

/** 1970-01-05, since when weeks are counted. */
const FIRST_MONDAY = 4
const LEAP_YEAR = 2000
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/**
 * Boundaries of an interval with an anchor: `06:00` for hours that divide a day and for days; for weeks also `sunday
 * 06:00` (a time alone: Monday); for months `15 06:00`, whose day is cut to the month's last (alone: the 1st); for
 * years `10-01 06:00`, month and day (alone: 1 January). Several days, months and years are counted from 1970, several
 * weeks from the first such weekday at or after 1970-01-05.
 */
export function parseWindowAnchor(text: string, interval: Duration): LocalBoundaries | InvalidAnchor {
  const written = readWrittenAnchor(text)
  if (written === null) return expectedFor(interval)
  const { day, clockUs } = written
  if (interval.kind === 'exact') {
    if (US_PER_DAY % interval.us !== 0) return { expected: 'an interval that divides a day, or none,' }
    return day === null ? evenBoundaries(clockUs, interval.us) : expectedFor(interval)
  }
  switch (unitOf(interval)) {
    case 'days':
      return day === null ? evenBoundaries(clockUs, daysOf(interval) * US_PER_DAY) : expectedFor(interval)
    case 'weeks': {
      const weekday = day === null ? 0 : WEEKDAYS.indexOf(day)
      if (weekday < 0) return expectedFor(interval)
      return evenBoundaries((FIRST_MONDAY + weekday) * US_PER_DAY + clockUs, daysOf(interval) * US_PER_DAY)
    }
    case 'months': {
      const dayOfMonth = day === null ? 1 : numberIn(day, 1, 31)
      if (dayOfMonth === null) return expectedFor(interval)
      return monthBoundaries(monthsOf(interval), 0, dayOfMonth, clockUs)
    }
    case 'years': {
      const [, monthText = '', dayText = ''] = /^(\d{1,2})-(\d{1,2})$/.exec(day ?? '1-1') ?? []
      const month = numberIn(monthText, 1, 12)
      const dayOfMonth = month === null ? null : numberIn(dayText, 1, daysInMonth(LEAP_YEAR, month))
      if (month === null || dayOfMonth === null) return expectedFor(interval)
      return monthBoundaries(monthsOf(interval), month - 1, dayOfMonth, clockUs)
    }
    case null:
      return { expected: 'an interval of one unit, or none,' }
  }
}

/** Whether a text is written like an anchor of some interval: a local time of day, perhaps with a day before it. */
export function isWindowAnchor(text: string): boolean {
  const day = readWrittenAnchor(text)?.day
  if (day === undefined) return false
  return day === null || WEEKDAYS.includes(day) || /^\d{1,2}(?:-\d{1,2})?$/.test(day)
}

/** An anchor in its parts: what stands before the time of day, in lower case, and the time in microseconds. */
interface WrittenAnchor {
  readonly day: string | null
  readonly clockUs: number
}

function readWrittenAnchor(text: string): WrittenAnchor | null {
  const match = /^(?:(\S{1,9}) +)?(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text.trim())
  const clockUs = match === null ? null : clockOf(match[2]!, match[3]!, match[4] ?? '0')
  if (match === null || clockUs === null) return null
  return { day: match[1]?.toLowerCase() ?? null, clockUs }
}

function expectedFor(interval: Duration): InvalidAnchor {
  const time = 'a local time of day such as 06:00'
  if (interval.kind === 'exact') return { expected: time }
  switch (unitOf(interval)) {
    case 'weeks':
      return { expected: `${time}, or sunday 06:00` }
    case 'months':
      return { expected: `${time}, or a day of the month before it such as 15 06:00` }
    case 'years':
      return { expected: `${time}, or month and day before it such as 10-01 06:00` }
    default:
      return { expected: time }
  }
}

/** The one unit of a calendar interval; `null` for one of several. */
function unitOf(interval: CalendarDuration): 'days' | 'weeks' | 'months' | 'years' | null {
  const { years, months, weeks, days, us } = interval
  const units = { days, weeks, months, years } as const
  const used = (Object.keys(units) as (keyof typeof units)[]).filter((unit) => units[unit] > 0)
  return us > 0 || used.length !== 1 ? null : used[0]!
}

function clockOf(hours: string, minutes: string, seconds: string): number | null {
  const [h, m, s] = [numberIn(hours, 0, 23), numberIn(minutes, 0, 59), numberIn(seconds, 0, 59)]
  if (h === null || m === null || s === null) return null
  return h * US_PER_HOUR + m * US_PER_MINUTE + s * US_PER_SECOND
}

function numberIn(text: string, least: number, most: number): number | null {
  if (!/^\d{1,2}$/.test(text)) return null
  const number = Number(text)
  return number >= least && number <= most ? number : null
}

/** Each so many microseconds, one of them at `first`. */
function evenBoundaries(first: number, stepUs: number): LocalBoundaries {
  return {
    at: (index) => first + index * stepUs,
    firstFrom: (local) => Math.ceil((local - first) / stepUs),
  }
}

/** Each so many months, counted from a month of 1970; a day beyond the end of its month is the month's last. */
function monthBoundaries(months: number, firstMonth: number, day: number, clockUs: number): LocalBoundaries {
  const at = (index: number): number => {
    const first = firstDayOfMonth(firstMonth + index * months)
    const last = addMonths(first, 1) - 1
    return Math.min(first + day - 1, last) * US_PER_DAY + clockUs
  }
  return {
    at,
    firstFrom: (local) => {
      let index = Math.floor((monthIndexOf(Math.floor(local / US_PER_DAY)) - firstMonth) / months)
      while (at(index) >= local) index--
      while (at(index) < local) index++
      return index
    },
  }
}
