import { addDuration, type CalendarDuration, LONGEST_DURATION, parseDuration } from './duration.ts'
import { resolveExpression, type TimeExpression } from './expression.ts'
import {
  type Instant,
  instantFromUs,
  isAccepted,
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MINUTE,
  US_PER_SECOND,
} from './instant.ts'
import { instantOfLocal, localDayOf } from './local.ts'
import { parseTimeExpression } from './parse.ts'
import { unitNamed } from './units.ts'
import type { TimeZone } from './zone.ts'

/** How far from an instant another one lies. */
export type Offset = Shift | ClockOffset | ExpressionOffset

/** A duration with a sign, or zero. */
export type Shift =
  | { readonly kind: 'exact'; readonly us: number }
  | { readonly kind: 'calendar'; readonly sign: 1 | -1; readonly duration: CalendarDuration }

/**
 * `[-]HH:MM[:SS]`; whether it was written with a sign tells an offset from a time of the day where either may
 * stand.
 */
export interface ClockOffset {
  readonly kind: 'clock'
  readonly us: number
  readonly isSigned: boolean
}

/** A relative time, which takes the instant for its `now`. */
export interface ExpressionOffset {
  readonly kind: 'expression'
  readonly text: string
  readonly expression: TimeExpression
}

/**
 * An offset from its text: a duration with or without a sign (`-2h`, `1d`, `-PT90S`), a number of
 * milliseconds, zero, `[-]HH:MM[:SS]` up to 99 hours, or a relative time (`last moment of yesterday`). Null
 * for anything else.
 */
export function parseOffset(text: string): Offset | null {
  const shift = parseShift(text) ?? parseClockOffset(text)
  if (shift !== null) return shift
  const expression = parseTimeExpression(text)
  return expression === null ? null : { kind: 'expression', text, expression }
}

/** A duration with or without a sign, a number of milliseconds, or zero. Null for anything else. */
export function parseShift(text: string): Shift | null {
  const trimmed = text.trim()
  if (trimmed.length > LONGEST_DURATION) return null
  const match = /^([+-]?)([^+\-\s].*)$/.exec(trimmed)
  if (match === null) return null
  const sign = match[1] === '-' ? -1 : 1
  if (isZero(match[2]!)) return { kind: 'exact', us: 0 }
  const duration = parseDuration(match[2]!)
  if (duration === null) return null
  return duration.kind === 'exact'
    ? { kind: 'exact', us: sign * duration.us }
    : { kind: 'calendar', sign, duration }
}

/** `0`, `0.0`, `0h`. */
function isZero(text: string): boolean {
  const match = /^0{1,15}(?:\.0{1,15})? ?([A-Za-z]{0,12})$/.exec(text)
  return match !== null && (match[1] === '' || unitNamed(match[1]!.toLowerCase()) !== null)
}

/** `[-]HH:MM[:SS]`, null for anything else. */
export function parseClockOffset(text: string): ClockOffset | null {
  const match = /^([+-]?)(\d\d):([0-5]\d)(?::([0-5]\d))?$/.exec(text.trim())
  if (match === null) return null
  const [, sign, hours, minutes, seconds = '0'] = match
  const us = Number(hours) * US_PER_HOUR + Number(minutes) * US_PER_MINUTE + Number(seconds) * US_PER_SECOND
  return { kind: 'clock', us: sign === '-' ? 0 - us : us, isSigned: sign !== '' }
}

/**
 * The instant an offset after another (before, when it is negative). Days and longer are calendar steps in
 * the zone.
 * @returns null outside the accepted range
 */
export function applyOffset(at: Instant, offset: Offset, zone: TimeZone): Instant | null {
  switch (offset.kind) {
    case 'exact':
    case 'calendar':
      return accepted(shiftInstant(at, offset, zone))
    case 'clock':
      return accepted(at + offset.us)
    case 'expression':
      return resolveExpression(offset.expression, at, zone)
  }
}

/** The instant a shift after another; may leave the accepted range. */
export function shiftInstant(at: Instant, shift: Shift, zone: TimeZone): Instant {
  return shift.kind === 'exact'
    ? instantFromUs(at + shift.us)
    : addDuration(at, shift.duration, zone, shift.sign)
}

/**
 * The one instant that an offset names from `now`, as POINTINTIME reads it: `HH:MM[:SS]` without a sign is
 * that time of today, everything else as `applyOffset`.
 * @returns null outside the accepted range, and for a time of the day from 24:00 on
 */
export function resolveReference(offset: Offset, now: Instant, zone: TimeZone): Instant | null {
  if (offset.kind !== 'clock' || offset.isSigned) return applyOffset(now, offset, zone)
  if (offset.us >= US_PER_DAY) return null
  return accepted(instantOfLocal(localDayOf(now, zone) * US_PER_DAY + offset.us, zone))
}

function accepted(us: number): Instant | null {
  return isAccepted(us) ? us : null
}
