import { addMonths } from './civil.ts'
import { type Instant, instantFromUs, US_PER_DAY } from './instant.ts'
import { localAt, MAX_OFFSET_US, type TimeZone } from './zone.ts'

/**
 * From the clock on the wall to instants. A local time is a number of microseconds since 1970-01-01T00:00 on
 * the clocks of a zone; it may not exist (the clocks were moved forward over it) or exist twice (they were
 * moved back).
 */

/**
 * The instant of a local time: the first one in an overlap, and in a gap the local time moved forward by the
 * gap.
 */
export function instantOfLocal(local: number, zone: TimeZone): Instant {
  const { starts, offsets } = zone
  let at = local - offsets[0]!
  for (let index = zone.spanAt(local - MAX_OFFSET_US); index < starts.length; index++) {
    // In a gap the clock that ran before it decides: that is what moves the time forward by the gap.
    if (local - offsets[index]! < starts[index]!) return instantFromUs(at)
    at = local - offsets[index]!
    if (index + 1 === starts.length || at < starts[index + 1]!) return instantFromUs(at)
  }
  return instantFromUs(at)
}

/**
 * The first instant at which the clocks show a local time or, in a gap, something later: where the day, hour
 * or month that begins with this local time really begins.
 */
export function startOfLocal(local: number, zone: TimeZone): Instant {
  const { starts, offsets } = zone
  let at = local - offsets[0]!
  for (let index = zone.spanAt(local - MAX_OFFSET_US); index < starts.length; index++) {
    at = Math.max(local - offsets[index]!, starts[index]!)
    if (index + 1 === starts.length || at < starts[index + 1]!) return instantFromUs(at)
  }
  return instantFromUs(at)
}

/** The local time at an offset, when the zone has that offset there, otherwise null. */
export function instantAtOffset(local: number, offsetUs: number, zone: TimeZone): Instant | null {
  const at = local - offsetUs
  return zone.offsetUsAt(at) === offsetUs ? instantFromUs(at) : null
}

/** Day of an instant in a zone, as days since 1970-01-01. */
export function localDayOf(at: Instant, zone: TimeZone): number {
  return Math.floor(localAt(at, zone) / US_PER_DAY)
}

/** First instant of a day, which is not 00:00 where the clocks go forward over midnight. */
export function startOfDay(day: number, zone: TimeZone): Instant {
  return startOfLocal(day * US_PER_DAY, zone)
}

/** A local time some months, then days later; the day is cut to the month's last, the clock stays. */
export function addToLocal(local: number, months: number, days: number): number {
  const day = Math.floor(local / US_PER_DAY)
  const moved = (months === 0 ? day : addMonths(day, months)) + days
  return local + (moved - day) * US_PER_DAY
}

/** An instant some months, then days later on the calendar of a zone, as Temporal.ZonedDateTime adds them. */
export function addCalendar(at: Instant, months: number, days: number, zone: TimeZone): Instant {
  // Without a calendar step even the second occurrence in an overlap stays where it is.
  if (months === 0 && days === 0) return at
  return instantOfLocal(addToLocal(localAt(at, zone), months, days), zone)
}
