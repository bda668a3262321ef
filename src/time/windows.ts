import { addMonths } from './civil.ts'
import { addDuration, type CalendarDuration, type Duration, daysOf, monthsOf } from './duration.ts'
import { divideSpan } from './exact.ts'
import { type Instant, instantFromUs, US_PER_DAY } from './instant.ts'
import { instantOfLocal, localDayOf, startOfDay } from './local.ts'
import { type Period, startOfNextPeriod, startOfPeriod } from './periods.ts'
import { MAX_OFFSET_US, type TimeZone } from './zone.ts'

/** A window [start, end); the next one begins at `end`. */
export interface Window {
  readonly start: Instant
  readonly end: Instant
}

/**
 * Gives the window that holds an instant. Tumbling windows over all time are nothing but such a
 * function.
 */
export type FindWindow = (at: Instant) => Window

/** The same windows, cheap for instants that follow each other: the last window is kept. */
export function keepLast(find: FindWindow): FindWindow {
  let last: Window | null = null
  return (at) => {
    if (last === null || at < last.start || at >= last.end) last = find(at)
    return last
  }
}

/** Hours, days, weeks, months, quarters or years of a zone. */
export function periodWindows(period: Period, zone: TimeZone): FindWindow {
  return (at) => {
    const start = startOfPeriod(at, period, zone)
    const end = startOfNextPeriod(at, period, zone)
    // Clocks that go back over midnight show the day before again: that part belongs to the day that has
    // begun.
    return at < end ? { start, end } : { start: end, end: startOfNextPeriod(end, period, zone) }
  }
}

/** Tumbling windows of an exact length, anchored at an origin, backwards too. */
export function exactWindows(origin: Instant, us: number): FindWindow {
  return (at) => {
    const { quotient, remainder } = divideSpan(origin, at, us)
    // What is left of a window of centuries may be no whole microseconds as a double.
    const start = Number.isSafeInteger(remainder) ? at - remainder : origin + quotient * us
    return { start: instantFromUs(start), end: instantFromUs(start + us) }
  }
}

/**
 * Tumbling windows of a duration, anchored at an origin, backwards too; calendar steps on the clocks of the
 * zone.
 */
export function durationWindows(origin: Instant, duration: Duration, zone: TimeZone): FindWindow {
  if (duration.kind === 'exact') return exactWindows(origin, duration.us)
  return steppedWindows((step) => addDuration(origin, duration, zone, step), nominalUs(duration))
}

/**
 * Tumbling windows of a duration, anchored at the start of each outer window, and begun anew at the next. Outer windows
 * in which there is room for calendar steps begin with a day.
 */
export function windowsWithin(outer: FindWindow, duration: Duration, zone: TimeZone): FindWindow {
  const findOuter = keepLast(outer)
  return (at) => {
    const whole = findOuter(at)
    const inner =
      duration.kind === 'exact'
        ? exactWindows(whole.start, duration.us)
        : dayWindows(localDayOf(whole.start, zone), duration, (day) => startOfDay(day, zone))
    const { start, end } = inner(at)
    return end < whole.end ? { start, end } : { start, end: whole.end }
  }
}

/**
 * Windows on the clocks of a zone: exact ones up to 24 hours are laid from each day's `clockUs` (microseconds
 * after midnight, may be negative) and begin anew there, longer exact ones from that time on 1970-01-01; days
 * from 1970-01-01, weeks from Monday 1970-01-05, months and years from January 1970.
 */
export function localWindows(duration: Duration, clockUs: number, zone: TimeZone): FindWindow {
  const startOf = (day: number): Instant =>
    clockUs === 0 ? startOfDay(day, zone) : instantOfLocal(day * US_PER_DAY + clockUs, zone)
  if (duration.kind === 'exact') {
    if (duration.us > US_PER_DAY) return exactWindows(startOf(0), duration.us)
    return windowsWithin(steppedWindows(startOf, US_PER_DAY), duration, zone)
  }
  return dayWindows(hasOnlyWeeks(duration) ? FIRST_MONDAY : 0, duration, startOf)
}

/** Windows of calendar steps from a day (since 1970-01-01), each beginning when its day does. */
function dayWindows(
  first: number,
  duration: CalendarDuration,
  startOf: (day: number) => Instant,
): FindWindow {
  const months = monthsOf(duration)
  const days = daysOf(duration)
  return steppedWindows((step) => {
    const day = months === 0 ? first : addMonths(first, months * step)
    return instantFromUs(startOf(day + days * step) + duration.us * step)
  }, nominalUs(duration))
}

function hasOnlyWeeks(duration: CalendarDuration): boolean {
  return duration.weeks > 0 && monthsOf(duration) === 0 && duration.days === 0 && duration.us === 0
}

/** 1970-01-05. */
const FIRST_MONDAY = 4

/** Length of a step in microseconds with months of their mean length; for comparing and estimating only. */
export function nominalUs(duration: Duration): number {
  return duration.kind === 'exact' ? duration.us : nominalCalendarUs(duration)
}

/**
 * By how much t plus or minus a duration can go back while t goes on, in microseconds: by a change of clocks, and where
 * days are cut to the month's last (a month before 30 March is 28 February, as it is before 29 March).
 */
export function slackUs(duration: Duration): number {
  if (duration.kind === 'exact') return 0
  return MAX_OFFSET_US + (monthsOf(duration) > 0 ? US_PER_DAY : 0)
}

function nominalCalendarUs(duration: CalendarDuration): number {
  return monthsOf(duration) * MEAN_MONTH_US + daysOf(duration) * US_PER_DAY + duration.us
}

/** A twelfth of 365.2425 days. */
const MEAN_MONTH_US = 30.436_875 * US_PER_DAY

/**
 * Windows that start at each step, given where steps start (never descending) and about how far apart they
 * are. Two steps at the same instant, of a day that a zone left out, make one window.
 */
function steppedWindows(startOf: (step: number) => Instant, stepUs: number): FindWindow {
  const origin = startOf(0)
  return (at) => {
    // The estimate is off by no more than a few steps: calendars stay close to their mean.
    let step = Math.floor((at - origin) / stepUs)
    while (startOf(step) > at) step--
    while (startOf(step + 1) <= at) step++
    return { start: startOf(step), end: startOf(step + 1) }
  }
}

/**
 * The starts of windows in [from, to], ascending. Only windows of instants in there are looked for: long ones may end
 * where a double holds no microseconds any more.
 * @returns null when there are more than `limit`
 */
export function startsIn(find: FindWindow, from: Instant, to: Instant, limit: number): Float64Array | null {
  const starts: number[] = []
  if (from > to) return Float64Array.of()
  const { start, end } = find(from)
  for (let next = start < from ? end : start; next <= to; next = find(next).end) {
    if (starts.length >= limit) return null
    starts.push(next)
  }
  return Float64Array.from(starts)
}
