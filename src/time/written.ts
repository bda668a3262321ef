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

/** A date, perhaps with a time and a zone, as it was written. */
export interface WrittenTime extends WrittenZone {
  /** Microseconds since 1970-01-01T00:00 on the clock that was meant. */
  readonly local: number
  /** Whether a time was written: a date alone is the beginning of its day. */
  readonly hasTime: boolean
}

/** The zone behind a date or a time: `Z`, an offset, `[Zone/Id]`, or nothing of it. */
export interface WrittenZone {
  readonly isUtc: boolean
  readonly offsetUs: number | null
  readonly offsetHasSeconds: boolean
  readonly zone: TimeZone | null
}

const ZONE = /(?: ?(?:(Z)|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?))?(?: ?\[([^\]]{1,64})\])?$/iy

/** The zone that is the whole rest of a text from a place, null when the rest is anything else. */
export function readZone(text: string, from: number): WrittenZone | null {
  ZONE.lastIndex = from
  const ending = ZONE.exec(text)
  if (ending === null) return null
  const [, utc, sign, hours, minutes = '0', seconds, id] = ending
  const offsetUs =
    sign === undefined ? null : offsetOf(sign, Number(hours), Number(minutes), Number(seconds ?? 0))
  if (offsetUs !== null && Number.isNaN(offsetUs)) return null
  const zone = id === undefined ? null : parseTimeZone(id)
  if (id !== undefined && zone === null) return null
  return { isUtc: utc !== undefined, offsetUs, offsetHasSeconds: seconds !== undefined, zone }
}

/**
 * Microseconds since midnight: 00:00 to 23:59:60, and 24:00:00 for the end of the day. Null for anything
 * else.
 */
export function clockUs(hours: number, minutes: number, seconds: number, us: number): number | null {
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

/**
 * The instant of a written time; null when an offset contradicts the zone beside it. May leave the accepted range.
 * @param callZone  for texts without any zone
 */
export function instantOfWritten(written: WrittenTime, callZone: TimeZone): Instant | null {
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
 * The instant of a written time without any zone, at an offset given in another way; null outside the accepted range.
 */
export function instantAtGivenOffset(written: WrittenTime, offsetUs: number): Instant | null {
  if (written.isUtc || written.offsetUs !== null || written.zone !== null) return null
  const at = written.local - offsetUs
  return isAccepted(at) ? at : null
}

/**
 * The occurrence of a local time that has the offset written beside the zone id, null when none has. An
 * offset of whole minutes also stands for one that rounds to it, as many programs print the odd seconds
 * before 1900.
 */
function atZonesOffset(
  { local, offsetHasSeconds }: WrittenTime,
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
