/**
 * Arithmetic of the proleptic Gregorian calendar on whole days since 1970-01-01, without any zone.
 * Source of the two conversions: Howard Hinnant, chrono-compatible low-level date algorithms.
 */

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

/** Days since 1970-01-01 of a date; the date must exist. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  )
}

/** The date of a day since 1970-01-01. */
export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Length of a month, 28 to 31. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days since 1970-01-01 of a date, or null when there is no such date. */
export function daysFromDate(year: number, month: number, day: number): number | null {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  return daysFromCivil(year, month, day)
}

/** Days since 1970-01-01 of an ordinal date (day 1 to 365 or 366 of the year), or null when there is none. */
export function daysFromOrdinal(year: number, dayOfYear: number): number | null {
  if (dayOfYear < 1 || dayOfYear > (isLeapYear(year) ? 366 : 365)) return null
  return daysFromCivil(year, 1, 1) + dayOfYear - 1
}

/** Days since 1970-01-01 of an ISO 8601 week date (weekday 1 is Monday), or null when there is none. */
export function daysFromWeekDate(year: number, week: number, weekday: number): number | null {
  if (week < 1 || weekday < 1 || weekday > 7) return null
  const start = startOfWeekYear(year)
  const days = start + (week - 1) * 7 + weekday - 1
  return start + (week - 1) * 7 < startOfWeekYear(year + 1) ? days : null
}

/** The Monday of week 1, which is the week with 4 January in it. */
function startOfWeekYear(year: number): number {
  return mondayOf(daysFromCivil(year, 1, 4))
}

/** The Monday of the week of a day, both as days since 1970-01-01 (a Thursday). */
export function mondayOf(days: number): number {
  return Math.floor((days + 3) / 7) * 7 - 3
}

/** Months since January 1970 of a day. */
export function monthIndexOf(days: number): number {
  const { year, month } = civilFromDays(days)
  return (year - 1970) * 12 + month - 1
}

/** First day of a month counted from January 1970. */
export function firstDayOfMonth(monthIndex: number): number {
  const year = Math.floor(monthIndex / 12)
  return daysFromCivil(1970 + year, monthIndex - year * 12 + 1, 1)
}

/** A day some months later or earlier; the day of the month is cut to the month's last. */
export function addMonths(days: number, months: number): number {
  const date = civilFromDays(days)
  const index = (date.year - 1970) * 12 + date.month - 1 + months
  const year = Math.floor(index / 12)
  const month = index - year * 12 + 1
  return daysFromCivil(1970 + year, month, Math.min(date.day, daysInMonth(1970 + year, month)))
}
