import { daysFromDate, daysFromOrdinal, daysFromWeekDate } from './civil.ts'
import { fractionUs } from './epoch.ts'
import {
  type Instant,
  instantFromUs,
  isAccepted,
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MINUTE,
  US_PER_SECOND,
} from './instant.ts'
import { instantOfLocal, startOfLocal } from './local.ts'
import { parseTimeZone, type TimeZone } from './zone.ts'

/** Calendar, ordinal and week dates; the basic forms must end before another digit. */
const DATE =
  /(\d{4})(?:-(?:(\d\d)-(\d\d)|(\d{3})|W(\d\d)(?:-([1-7]))?)|(?:(\d\d)(\d\d)|(\d{3})|W(\d\d)([1-7])?))(?!\d)/iy
const TIME =
  /[T ](?:(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d))(?![\d.,:])/iy
const ZONE = /(?: ?(?:(Z)|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?))?(?: ?\[([^\]]{1,64})\])?$/iy
const EXTENDED_DATE = /^\d{4}-\d\d-\d\d/

/** A date, perhaps with a time and a zone, as it was written. */
interface Written {
  /** Microseconds since 1970-01-01T00:00 on the clock that was meant. */
  readonly local: number
  /** Whether a time was written: a date alone is the beginning of its day. */
  readonly hasTime: boolean
  readonly isUtc: boolean
  readonly offsetUs: number | null
  readonly offsetHasSeconds: boolean
  readonly zone: TimeZone | null
}

/**
 * The instant of an ISO 8601 text: calendar, ordinal or week date, extended or basic, alone or with a time;
 * `Z`, an offset, `[Zone/Id]`, or both. Never throws.
 * @param zone  for texts without any zone
 * @returns     null for anything else, for dates that do not exist, when an offset contradicts the zone
 *              beside it, and outside the accepted range
 */
export function instantOfIso(text: string, zone: TimeZone): Instant | null {
  const written = readWritten(text)
  if (written === null) return null
  const at = instantOfWritten(written, zone)
  return at !== null && isAccepted(at) ? at : null
}

/** The same for a text without any zone, read at an offset that was given in another way. */
export function instantOfIsoAtOffset(text: string, offsetUs: number): Instant | null {
  const written = readWritten(text)
  if (written === null || written.isUtc || written.offsetUs !== null || written.zone !== null) return null
  const at = written.local - offsetUs
  return isAccepted(at) ? at : null
}

function readWritten(text: string): Written | null {
  DATE.lastIndex = 0
  const date = DATE.exec(text)
  const day = date === null ? null : dayOf(date)
  if (date === null || day === null) return null

  TIME.lastIndex = DATE.lastIndex
  const time = TIME.exec(text)
  const clock = time === null ? 0 : clockOf(time)
  if (clock === null) return null

  ZONE.lastIndex = time === null ? date[0].length : TIME.lastIndex
  const ending = ZONE.exec(text)
  if (ending === null) return null
  const [, utc, sign, hours, minutes = '0', seconds, id] = ending
  // After a week or basic date alone, an offset could be taken for more of the date.
  if (sign !== undefined && time === null && !EXTENDED_DATE.test(text)) return null
  const offsetUs =
    sign === undefined ? null : offsetOf(sign, Number(hours), Number(minutes), Number(seconds ?? 0))
  if (offsetUs !== null && Number.isNaN(offsetUs)) return null
  const zone = id === undefined ? null : parseTimeZone(id)
  if (id !== undefined && zone === null) return null
  return {
    local: day * US_PER_DAY + clock,
    hasTime: time !== null,
    isUtc: utc !== undefined,
    offsetUs,
    offsetHasSeconds: seconds !== undefined,
    zone,
  }
}

function dayOf(match: RegExpExecArray): number | null {
  const year = Number(match[1])
  const month = match[2] ?? match[7]
  if (month !== undefined) return daysFromDate(year, Number(month), Number(match[3] ?? match[8]))
  const ordinal = match[4] ?? match[9]
  if (ordinal !== undefined) return daysFromOrdinal(year, Number(ordinal))
  return daysFromWeekDate(year, Number(match[5] ?? match[10]), Number(match[6] ?? match[11] ?? 1))
}

/** Microseconds since midnight, null for a time that no clock shows. */
function clockOf(match: RegExpExecArray): number | null {
  const hours = match[1] ?? match[5] ?? match[9]
  const minutes = match[2] ?? match[6] ?? '0'
  const seconds = match[3] ?? match[7] ?? '0'
  const fraction = match[4] ?? match[8] ?? ''
  return clockUs(Number(hours), Number(minutes), Number(seconds), fractionUs(fraction, 6))
}

/**
 * Microseconds since midnight: 00:00 to 23:59:60, and 24:00:00 for the end of the day. Null for anything
 * else.
 */
function clockUs(hours: number, minutes: number, seconds: number, us: number): number | null {
  if (hours > 23) return hours === 24 && minutes === 0 && seconds === 0 && us === 0 ? US_PER_DAY : null
  if (minutes > 59 || seconds > 60) return null
  // A leap second is read as the second before it, as Temporal does.
  return hours * US_PER_HOUR + minutes * US_PER_MINUTE + Math.min(seconds, 59) * US_PER_SECOND + us
}

/** NaN for an offset that no clock shows. */
function offsetOf(sign: string, hours: number, minutes: number, seconds: number): number {
  if (hours > 23 || minutes > 59 || seconds > 59) return Number.NaN
  const us = hours * US_PER_HOUR + minutes * US_PER_MINUTE + seconds * US_PER_SECOND
  return sign === '-' ? 0 - us : us
}

function instantOfWritten(written: Written, callZone: TimeZone): Instant | null {
  const { local, zone } = written
  // `Z` beside a zone id states the instant, and the id only where it was (RFC 9557).
  if (written.isUtc) return instantFromUs(local)
  if (written.offsetUs !== null) {
    return zone === null
      ? instantFromUs(local - written.offsetUs)
      : atZonesOffset(written, written.offsetUs, zone)
  }
  return written.hasTime ? instantOfLocal(local, zone ?? callZone) : startOfLocal(local, zone ?? callZone)
}

/**
 * The occurrence of a local time that has the offset written beside the zone id, null when none has. An
 * offset of whole minutes also stands for one that rounds to it, as many programs print the odd seconds
 * before 1900.
 */
function atZonesOffset(
  { local, offsetHasSeconds }: Written,
  offsetUs: number,
  zone: TimeZone,
): Instant | null {
  const exact = local - offsetUs
  const zonesOffset = zone.offsetUsAt(exact)
  if (zonesOffset === offsetUs) return instantFromUs(exact)
  if (offsetHasSeconds || roundToMinute(zonesOffset) !== offsetUs) return null
  const at = local - zonesOffset
  return zone.offsetUsAt(at) === zonesOffset ? instantFromUs(at) : null
}

function roundToMinute(us: number): number {
  return Math.sign(us) * Math.round(Math.abs(us) / US_PER_MINUTE) * US_PER_MINUTE
}
