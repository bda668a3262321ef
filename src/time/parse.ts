import { readCalendarDate } from './calendar-dates.ts'
import { instantOfCommonForm } from './common-forms.ts'
import { parseGrafana, parsePi } from './dialects.ts'
import { instantOfEpochNumber, instantOfEpochText } from './epoch.ts'
import { resolveExpression, type TimeExpression } from './expression.ts'
import { END_INSTANT, type Instant, isAccepted } from './instant.ts'
import { readIso } from './iso.ts'
import { parseRelative } from './relative.ts'
import { instantOfWritten, type WrittenTime } from './written.ts'
import type { TimeZone } from './zone.ts'

export { type EpochUnit, numberToInstant } from './epoch.ts'

/** What a time is read against: relative times count from `now`, and `zone` is that of texts without one. */
export interface TimeContext {
  readonly now: Instant
  readonly zone: TimeZone
}

/** No accepted form is longer; keeps hostile input cheap. */
export const LONGEST_TIME = 200

/**
 * An instant from a JSON value in any form of the interface: ISO 8601, a date with a month's name or
 * `dd.mm.yyyy`, epoch as a number or a text of digits, relative in words or in the dialects of Grafana and PI. Outer
 * blanks do not matter. Never throws; the time it takes is linear in the length of the text, which is bounded.
 * @returns null for anything else, and outside the accepted range
 * @source  docs/timestamps.md
 */
export function parseTime(input: unknown, context: TimeContext): Instant | null {
  if (typeof input === 'number') return instantOfEpochNumber(input)
  if (typeof input !== 'string' || input.length > LONGEST_TIME) return null
  const common = instantOfCommonForm(input)
  if (common !== null) return common
  const absolute = parseAbsoluteTime(input, context.zone)
  if (absolute !== null) return absolute
  const expression = parseTimeExpression(input)
  return expression === null ? null : resolveExpression(expression, context.now, context.zone)
}

/** 10000-01-01T00:00:00Z in milliseconds since 1970. */
const YEAR_10000_MS = 253_402_300_800_000

/**
 * The end of a range: as `parseTime`, and a date or a number of milliseconds in the years from 2200 to 9999
 * 2200-01-01T00:00:00Z, where all time ends that points may have. People write such a year for "no end".
 */
export function parseEndTime(input: unknown, context: TimeContext): Instant | null {
  const at = parseTime(input, context)
  if (at !== null) return at
  if (typeof input === 'string') {
    if (input.length > LONGEST_TIME) return null
    const text = input.trim()
    const written = readWritten(text)
    const beyond = written === null ? null : instantOfWritten(written, context.zone)
    if (beyond !== null && beyond >= END_INSTANT) return END_INSTANT
    return /^\+?\d{13,18}(?:\.\d+)?$/.test(text) ? endOfMilliseconds(Number(text)) : null
  }
  return typeof input === 'number' ? endOfMilliseconds(input) : null
}

function endOfMilliseconds(ms: number): Instant | null {
  return ms * 1_000 >= END_INSTANT && ms < YEAR_10000_MS ? END_INSTANT : null
}

/** The forms that need no `now`: ISO 8601, dates with a month's name or dots, epoch texts. Null as `parseTime`. */
export function parseAbsoluteTime(text: string, zone: TimeZone): Instant | null {
  if (text.length > LONGEST_TIME) return null
  const trimmed = text.trim()
  const epoch = instantOfEpochText(trimmed)
  if (epoch !== undefined) return epoch
  const written = readWritten(trimmed)
  const at = written === null ? null : instantOfWritten(written, zone)
  return at !== null && isAccepted(at) ? at : null
}

/** A date, perhaps with a time and a zone, as it was written; null for anything else. */
export function readWritten(text: string): WrittenTime | null {
  return readIso(text) ?? readCalendarDate(text)
}

/** The forms that need a `now`, as steps that can be resolved against many. Null for anything else. */
export function parseTimeExpression(text: string): TimeExpression | null {
  if (text.length > LONGEST_TIME) return null
  const trimmed = text.trim()
  return parseRelative(trimmed) ?? parseGrafana(trimmed) ?? parsePi(trimmed)
}
