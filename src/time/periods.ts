import { firstDayOfMonth, mondayOf, monthIndexOf } from './civil.ts'
import { type Instant, instantFromUs, US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './instant.ts'
import { instantAtOffset, localDayOf, startOfDay } from './local.ts'
import { localAt, type TimeZone } from './zone.ts'

/** A period of the calendar or the clock; weeks begin on Mondays. */
export type Period = ClockPeriod | CalendarPeriod
export type ClockPeriod = 'second' | 'minute' | 'hour'
export type CalendarPeriod = 'day' | 'week' | 'month' | 'quarter' | 'year'

export const CLOCK_PERIOD_US = {
  second: US_PER_SECOND,
  minute: US_PER_MINUTE,
  hour: US_PER_HOUR,
} as const satisfies Record<ClockPeriod, number>

/**
 * First instant of the period that holds an instant on the clocks of a zone, or of a period `shift` later or
 * (negative) earlier. Where the clocks go forward over the beginning, it is the instant at which they do.
 */
export function startOfPeriod(at: Instant, period: Period, zone: TimeZone, shift = 0): Instant {
  switch (period) {
    case 'second':
    case 'minute':
    case 'hour':
      return startOfShiftedPeriod(at, period, zone, shift)
    default:
      return startOfDay(firstDayOf(localDayOf(at, zone), period, shift), zone)
  }
}

/** First instant of the next period. */
export function startOfNextPeriod(at: Instant, period: Period, zone: TimeZone): Instant {
  if (period !== 'second' && period !== 'minute' && period !== 'hour')
    return startOfPeriod(at, period, zone, 1)
  const us = CLOCK_PERIOD_US[period]
  for (let from = at; ; ) {
    const end = Math.floor(localAt(from, zone) / us + 1) * us - zone.offsetUsAt(from)
    const changed = zone.starts[zone.spanAt(from) + 1] ?? Number.POSITIVE_INFINITY
    if (end < changed) return instantFromUs(end)
    from = instantFromUs(changed)
    // An hour in which the clocks are moved back by half an hour takes 90 minutes.
    if (startOfClockPeriod(from, period, zone) === from) return from
  }
}

/** From period to period as the clocks show them: where they are moved not all are equally long. */
function startOfShiftedPeriod(at: Instant, period: ClockPeriod, zone: TimeZone, shift: number): Instant {
  let start = startOfClockPeriod(at, period, zone)
  for (let left = shift; left > 0; left--) start = startOfNextPeriod(start, period, zone)
  for (let left = shift; left < 0; left++) start = startOfClockPeriod(instantFromUs(start - 1), period, zone)
  return start
}

/** A change of clocks begins a period, unless it leads from one to the same: then that one goes on. */
function startOfClockPeriod(at: Instant, period: ClockPeriod, zone: TimeZone): Instant {
  const us = CLOCK_PERIOD_US[period]
  const local = Math.floor(localAt(at, zone) / us) * us
  // The second of two equal hours begins with itself, not with the first.
  const own = instantAtOffset(local, zone.offsetUsAt(at), zone)
  if (own !== null) return own
  const changed = zone.starts[zone.spanAt(at)]!
  const before = instantFromUs(changed - 1)
  return Math.floor(localAt(before, zone) / us) * us === local
    ? startOfClockPeriod(before, period, zone)
    : instantFromUs(changed)
}

/** First day of the period that holds a day, or of one `shift` periods later; days since 1970-01-01. */
export function firstDayOf(day: number, period: CalendarPeriod, shift = 0): number {
  switch (period) {
    case 'day':
      return day + shift
    case 'week':
      return mondayOf(day) + shift * 7
    case 'month':
      return firstDayOfMonth(monthIndexOf(day) + shift)
    case 'quarter':
      return firstDayOfMonth((Math.floor(monthIndexOf(day) / 3) + shift) * 3)
    case 'year':
      return firstDayOfMonth((Math.floor(monthIndexOf(day) / 12) + shift) * 12)
  }
}
