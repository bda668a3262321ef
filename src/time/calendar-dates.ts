import { daysFromDate } from './civil.ts'
import { fractionUs } from './epoch.ts'
import { US_PER_DAY } from './instant.ts'
import { clockUs, readZone, type WrittenTime } from './written.ts'

/** Names of the months as people write them; `may` is its own abbreviation. */
const MONTH_NAMES = [
  ['january', 'jan'],
  ['february', 'feb'],
  ['march', 'mar'],
  ['april', 'apr'],
  ['may'],
  ['june', 'jun'],
  ['july', 'jul'],
  ['august', 'aug'],
  ['september', 'sept', 'sep'],
  ['october', 'oct'],
  ['november', 'nov'],
  ['december', 'dec'],
] as const satisfies readonly (readonly string[])[]

/** Number of a month, 1 to 12, by its names and abbreviations in lower case. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_NAMES.flatMap((names, index) => names.map((name): [string, number] => [name, index + 1])),
)

const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
const MONTH = `(${[...MONTHS.keys()].join('|')})\\.?`
/** A comma may stand before the year: `January 1, 2022`. */
const YEAR = String.raw`(?:-|,? {1,3})(\d{4})(?!\d)`
const BREAK = '(?:-| {1,3})'
const DAY_MONTH_YEAR = new RegExp(`${DAY}${BREAK}${MONTH}${YEAR}`, 'iy')
const MONTH_DAY_YEAR = new RegExp(`${MONTH}${BREAK}${DAY}${YEAR}`, 'iy')
const YEAR_MONTH_DAY = new RegExp(String.raw`(\d{4})${BREAK}${MONTH}${BREAK}${DAY}(?!\d)`, 'iy')
const DOTTED = /(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/y
const TIME = /,? {1,3}(?:at )?(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?![\d.,:])/iy

/**
 * Reads a date as people write it, alone or with a time and a zone as in ISO 8601: day, month and year with the month's
 * English name in any usual order (`1-Jan-2022 05:00:00`, `January 1, 2022`, `2022 Jan 1`), and `dd.mm.yyyy`. The year
 * has four digits. Never throws.
 * @returns null for anything else, and for dates that do not exist
 */
export function readCalendarDate(text: string): WrittenTime | null {
  const date = readDate(text)
  if (date === null) return null
  TIME.lastIndex = date.end
  const time = TIME.exec(text)
  const clock = time === null ? 0 : clockOf(time)
  if (clock === null) return null
  const zone = readZone(text, time === null ? date.end : TIME.lastIndex)
  // After a date alone an offset could be a time: that of 1-Jan-2022-05:00.
  if (zone === null || (time === null && zone.offsetUs !== null)) return null
  return { local: date.day * US_PER_DAY + clock, hasTime: time !== null, ...zone }
}

/** The day since 1970-01-01 that a text begins with, and where the text goes on. */
function readDate(text: string): { readonly day: number; readonly end: number } | null {
  const dotted = match(DOTTED, text)
  if (dotted !== null) return dated(dotted, dotted[3]!, Number(dotted[2]), dotted[1]!)
  const dayFirst = match(DAY_MONTH_YEAR, text)
  if (dayFirst !== null) return dated(dayFirst, dayFirst[3]!, monthOf(dayFirst[2]!), dayFirst[1]!)
  const monthFirst = match(MONTH_DAY_YEAR, text)
  if (monthFirst !== null) return dated(monthFirst, monthFirst[3]!, monthOf(monthFirst[1]!), monthFirst[2]!)
  const yearFirst = match(YEAR_MONTH_DAY, text)
  return yearFirst === null ? null : dated(yearFirst, yearFirst[1]!, monthOf(yearFirst[2]!), yearFirst[3]!)
}

function match(pattern: RegExp, text: string): RegExpExecArray | null {
  pattern.lastIndex = 0
  return pattern.exec(text)
}

function monthOf(name: string): number {
  return MONTHS.get(name.toLowerCase())!
}

function dated(found: RegExpExecArray, year: string, month: number, dayOfMonth: string) {
  const day = daysFromDate(Number(year), month, Number(dayOfMonth))
  return day === null ? null : { day, end: found[0].length }
}

function clockOf([, hours, minutes, seconds = '0', fraction = '']: RegExpExecArray): number | null {
  return clockUs(Number(hours), Number(minutes), Number(seconds), fractionUs(fraction, 6))
}
