import { daysFromDate, daysFromOrdinal, daysFromWeekDate } from './civil.ts'
import { fractionUs } from './epoch.ts'
import { US_PER_DAY } from './instant.ts'
import { clockUs, readZone, type WrittenTime } from './written.ts'

/** Calendar, ordinal and week dates; the basic forms must end before another digit. */
const DATE =
  /(\d{4})(?:-(?:(\d\d)-(\d\d)|(\d{3})|W(\d\d)(?:-([1-7]))?)|(?:(\d\d)(\d\d)|(\d{3})|W(\d\d)([1-7])?))(?!\d)/iy
const TIME =
  /[T ](?:(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d))(?![\d.,:])/iy
const EXTENDED_DATE = /^\d{4}-\d\d-\d\d/

/**
 * Reads an ISO 8601 text: calendar, ordinal or week date, extended or basic, alone or with a time; `Z`, an
 * offset, `[Zone/Id]`, or both. Never throws.
 * @returns null for anything else, and for dates that do not exist
 */
export function readIso(text: string): WrittenTime | null {
  DATE.lastIndex = 0
  const date = DATE.exec(text)
  const day = date === null ? null : dayOf(date)
  if (date === null || day === null) return null

  TIME.lastIndex = DATE.lastIndex
  const time = TIME.exec(text)
  const clock = time === null ? 0 : clockOf(time)
  if (clock === null) return null

  const end = time === null ? date[0].length : TIME.lastIndex
  const zone = readZone(text, end)
  if (zone === null) return null
  // After a week or basic date alone, an offset could be taken for more of the date.
  if (zone.offsetUs !== null && time === null && !EXTENDED_DATE.test(text)) return null
  return { local: day * US_PER_DAY + clock, hasTime: time !== null, ...zone }
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
