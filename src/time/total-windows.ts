import type { Anchor, TotalPeriod, TotalWindow } from './anchor.ts'
import { addDuration, type Duration } from './duration.ts'
import { type Instant, instantFromUs, US_PER_DAY, US_PER_HOUR } from './instant.ts'
import { shiftInstant } from './offset.ts'
import {
  durationWindows,
  type FindWindow,
  keepLast,
  localWindows,
  nominalUs,
  periodWindows,
  slackUs,
  startsIn,
  windowsWithin,
} from './windows.ts'
import { type TimeZone, UTC } from './zone.ts'

/** The windows of a total: anchored ones, end to end over all time, or one that rolls with t. */
export type WindowLayout = AnchoredWindows | RollingWindows

export interface AnchoredWindows {
  readonly kind: 'anchored'
  /** Start of the window that holds t, t itself included. Cheap for ascending t: the last window is kept. */
  startAt(t: Instant): Instant
  /** End of that window, which is the start of the next. */
  endAt(t: Instant): Instant
  /** Starts of windows in [from, to], ascending; null when there are more than `limit`. */
  startsIn(from: Instant, to: Instant, limit: number): Float64Array | null
}

export interface RollingWindows {
  readonly kind: 'rolling'
  startFor(t: Instant): Instant
  endFor(t: Instant): Instant
  /** By how much the start for a later t can lie before that for an earlier one; 0 for exact lengths. */
  readonly startSlackUs: number
  /** The same of the end. */
  readonly endSlackUs: number
}

/**
 * Where the windows of a total lie.
 * @param zone  of the call
 * @returns     a sentence that says what is wrong when the window is longer than its calendar anchor's period
 */
export function makeWindows(window: TotalWindow, anchor: Anchor, zone: TimeZone): WindowLayout | string {
  switch (anchor.kind) {
    case 'period':
      if (lengthOf(window) > LONGEST_US[anchor.period]) {
        const period = anchor.period.toUpperCase()
        return `The window ${window.text} is longer than a ${period}, the period of its anchor BEGIN_${period}`
      }
      return anchored(
        window.kind === 'period'
          ? periodWindows(window.period, zone)
          : windowsWithin(periodWindows(anchor.period, zone), window.duration, zone),
      )
    case 'utc-clock':
      return anchored(durationWindows(instantFromUs(anchor.us), durationOf(window), UTC))
    case 'local-clock':
      return anchored(localWindows(durationOf(window), anchor.us, zone))
    case 'fixed':
      return anchored(durationWindows(anchor.at, durationOf(window), zone))
    case 'dynamic': {
      const duration = durationOf(window)
      const endFor = (t: Instant): Instant => shiftInstant(t, anchor.shift, zone)
      const { shift } = anchor
      const endSlackUs = shift.kind === 'exact' ? 0 : slackUs(shift.duration)
      return {
        kind: 'rolling',
        startFor: (t) => addDuration(endFor(t), duration, zone, -1),
        endFor,
        startSlackUs: slackUs(duration) + endSlackUs,
        endSlackUs,
      }
    }
  }
}

function anchored(windows: FindWindow): AnchoredWindows {
  const find = keepLast(windows)
  return {
    kind: 'anchored',
    startAt: (t) => find(t).start,
    endAt: (t) => find(t).end,
    startsIn: (from, to, limit) => startsIn(find, from, to, limit),
  }
}

const DURATIONS = {
  hour: { kind: 'exact', us: US_PER_HOUR },
  day: { kind: 'calendar', years: 0, months: 0, weeks: 0, days: 1, us: 0 },
  week: { kind: 'calendar', years: 0, months: 0, weeks: 1, days: 0, us: 0 },
  month: { kind: 'calendar', years: 0, months: 1, weeks: 0, days: 0, us: 0 },
  quarter: { kind: 'calendar', years: 0, months: 3, weeks: 0, days: 0, us: 0 },
  year: { kind: 'calendar', years: 1, months: 0, weeks: 0, days: 0, us: 0 },
} as const satisfies Record<TotalPeriod, Duration>

/** A window as a duration, for anchors that are no period. */
function durationOf(window: TotalWindow): Duration {
  return window.kind === 'duration' ? window.duration : DURATIONS[window.period]
}

function lengthOf(window: TotalWindow): number {
  return nominalUs(durationOf(window))
}

/**
 * The longest that each period gets, clock changes apart; months of the window count with their mean length.
 */
const LONGEST_US = {
  hour: US_PER_HOUR,
  day: US_PER_DAY,
  week: 7 * US_PER_DAY,
  month: 31 * US_PER_DAY,
  quarter: 92 * US_PER_DAY,
  year: 366 * US_PER_DAY,
} as const satisfies Record<TotalPeriod, number>
