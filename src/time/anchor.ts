import { type Duration, parseDuration } from './duration.ts'
import type { Instant } from './instant.ts'
import { parseClockOffset, parseShift, type Shift } from './offset.ts'
import { parseAbsoluteTime, readWritten } from './parse.ts'
import type { Period } from './periods.ts'
import { instantAtGivenOffset } from './written.ts'
import type { TimeZone } from './zone.ts'
import { offsetOfAbbreviation } from './zone-abbreviations.ts'

/** Periods that an anchor can begin with and a window can have the length of. */
export type TotalPeriod = Exclude<Period, 'second' | 'minute'>

/** Where the windows of a total begin. */
export type Anchor =
  /** `BEGIN_DAY` and its like: at the beginning of each such period in the call's zone. */
  | { readonly kind: 'period'; readonly period: TotalPeriod }
  /** `[-]HH:MM[:SS]`: end to end from 1970-01-01T00:00 UTC plus this, in microseconds. */
  | { readonly kind: 'utc-clock'; readonly us: number }
  /** The same followed by `local`: at that time on the clocks of the call's zone. */
  | { readonly kind: 'local-clock'; readonly us: number }
  /** A time: from there on, and backwards too. */
  | { readonly kind: 'fixed'; readonly at: Instant }
  /** A duration or `0`: one window, which ends at t plus this. */
  | { readonly kind: 'dynamic'; readonly shift: Shift }

/** Length of the windows of a total; `text` as it was written, for messages. */
export type TotalWindow =
  | { readonly kind: 'period'; readonly period: TotalPeriod; readonly text: string }
  | { readonly kind: 'duration'; readonly duration: Duration; readonly text: string }

const PERIODS = new Map<string, TotalPeriod>(
  (['hour', 'day', 'week', 'month', 'quarter', 'year'] as const).map((period) => [period, period]),
)

/**
 * A window from its text: `HOUR DAY WEEK MONTH QUARTER YEAR` in any case, or a duration. Null for anything
 * else.
 */
export function parseWindow(text: string): TotalWindow | null {
  const period = PERIODS.get(text.trim().toLowerCase())
  if (period !== undefined) return { kind: 'period', period, text }
  const duration = parseDuration(text)
  return duration === null ? null : { kind: 'duration', duration, text }
}

/**
 * An anchor from its text: `BEGIN_HOUR` to `BEGIN_YEAR`; `[-]HH:MM[:SS]`, which may be followed by `local`; a
 * duration with or without a sign, milliseconds, or `0`; or an absolute time, also with a zone abbreviation
 * of one meaning (`2024-04-01 00:00:00 CEST`). A number from 100,000,000,000 on is epoch milliseconds, a
 * smaller one a duration.
 * @param zone  for times without a zone
 * @returns     null for anything else
 */
export function parseAnchor(text: string, zone: TimeZone): Anchor | null {
  const trimmed = text.trim()
  const period = /^begin_([a-z]{1,12})$/i.exec(trimmed)
  if (period !== null) return periodAnchor(period[1]!)
  const clock = parseClockAnchor(trimmed)
  if (clock !== null) return clock
  const shift = isEpochMilliseconds(trimmed) ? null : parseShift(trimmed)
  if (shift !== null) return { kind: 'dynamic', shift }
  const at = parseAbsoluteTime(trimmed, zone) ?? parseAbbreviatedTime(trimmed)
  return at === null ? null : { kind: 'fixed', at }
}

function periodAnchor(name: string): Anchor | null {
  const period = PERIODS.get(name.toLowerCase())
  return period === undefined ? null : { kind: 'period', period }
}

function parseClockAnchor(text: string): Anchor | null {
  const local = /^(.{1,12}?) ?local$/i.exec(text)
  const clock = parseClockOffset(local === null ? text : local[1]!)
  if (clock === null) return null
  return { kind: local === null ? 'utc-clock' : 'local-clock', us: clock.us }
}

/** As a duration, such a number would be more than three years. */
function isEpochMilliseconds(text: string): boolean {
  return /^[+-]?0*[1-9]\d{11,}(?:\.\d+)?$/.test(text)
}

function parseAbbreviatedTime(text: string): Instant | null {
  const match = /^(.{8,40}?) ?([a-z]{3,5})$/i.exec(text)
  if (match === null) return null
  const offset = offsetOfAbbreviation(match[2]!)
  const written = offset === null ? null : readWritten(match[1]!)
  return written === null ? null : instantAtGivenOffset(written, offset!)
}
