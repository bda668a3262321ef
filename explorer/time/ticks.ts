import { clockText, dateText, instantOf, isDoubled, offsetAt, offsetText } from './zone.ts'

export interface TimeTick {
  readonly at: number
  /** Clock time, or day, month or year for long steps. */
  readonly label: string
  /** The day, where a new one begins or at the first tick; the offset in a doubled hour. */
  readonly below: string
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Steps that divide the next longer unit; days and longer are steps of the calendar. */
const EXACT = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
]
const HOURS = [1, 2, 3, 4, 6, 12]
const DAYS = [1, 2, 7, 14]
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120]
const MONTH_NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Ticks of a time axis at wall-clock times of the zone; the hour that a clock change doubles is there twice. */
export function timeTicks(from: number, to: number, width: number, zone: string): readonly TimeTick[] {
  const least = ((to - from) * 84) / Math.max(width, 84)
  const exact = EXACT.find((step) => step >= least)
  if (exact !== undefined) return clockTicks(exactTimes(from, to, exact, zone), exact, zone)
  const hours = HOURS.find((n) => n * HOUR >= least)
  if (hours !== undefined) {
    const times = exactTimes(from, to, HOUR, zone).filter((at) => hourOf(at, zone) % hours === 0)
    return clockTicks(times, HOUR, zone)
  }
  const days = DAYS.find((n) => n * DAY >= least)
  if (days !== undefined) return dayTicks(from, to, days, zone)
  return monthTicks(from, to, MONTHS.find((n) => n * 30 * DAY >= least) ?? 240, zone)
}

/** Instants whose wall-clock time is a multiple of the step. */
function exactTimes(from: number, to: number, step: number, zone: string): readonly number[] {
  const times: number[] = []
  let at = from
  while (at <= to && times.length < 2_000) {
    const wall = at + offsetAt(at, zone)
    const next = at + (Math.ceil(wall / step) * step - wall)
    // A clock change in between moves the wall clock: look again from the change on.
    if (offsetAt(next, zone) !== offsetAt(at, zone) && Math.ceil(wall / step) * step !== wall) {
      const change = Math.ceil((at + 1) / 900_000) * 900_000
      if (change < next) {
        at = change
        continue
      }
    }
    if (next <= to) times.push(next)
    at = next + (step >= 900_000 ? 1 : step)
  }
  return times
}

function hourOf(at: number, zone: string): number {
  return new Date(at + offsetAt(at, zone)).getUTCHours()
}

function clockTicks(times: readonly number[], step: number, zone: string): readonly TimeTick[] {
  const digits = step < SECOND ? 'ms' : step < MINUTE ? 'second' : 'minute'
  let lastDay = ''
  return times.map((at) => {
    const day = dateText(at, zone)
    const doubled = isDoubled(at, zone) ? offsetText(at, zone) : ''
    const below = day === lastDay ? doubled : shortDay(at, zone)
    lastDay = day
    return { at, label: clockText(at, zone, digits), below }
  })
}

/** `Thu 15 Jan` */
function shortDay(at: number, zone: string): string {
  const date = new Date(at + offsetAt(at, zone))
  const weekday = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][date.getUTCDay()]
  return `${weekday} ${date.getUTCDate()} ${MONTH_NAMES[date.getUTCMonth()]}`
}

function dayTicks(from: number, to: number, days: number, zone: string): readonly TimeTick[] {
  const ticks: TimeTick[] = []
  // Weeks begin on Mondays: 1970-01-05 was one.
  const start = days % 7 === 0 ? 4 : 0
  let day = Math.floor((from + offsetAt(from, zone)) / DAY) - 1
  let lastYear = Number.NaN
  for (; ticks.length < 500; day++) {
    if ((((day - start) % days) + days) % days !== 0) continue
    const at = instantOf(day * DAY, zone)
    if (at > to) break
    if (at < from) continue
    const date = new Date(day * DAY)
    const year = date.getUTCFullYear()
    const label = `${date.getUTCDate()} ${MONTH_NAMES[date.getUTCMonth()]}`
    ticks.push({ at, label, below: year === lastYear ? '' : String(year) })
    lastYear = year
  }
  return ticks
}

function monthTicks(from: number, to: number, months: number, zone: string): readonly TimeTick[] {
  const ticks: TimeTick[] = []
  const date = new Date(from + offsetAt(from, zone))
  let month = date.getUTCFullYear() * 12 + date.getUTCMonth()
  month -= month % months
  let lastYear = Number.NaN
  for (; ticks.length < 500; month += months) {
    const year = Math.floor(month / 12)
    const at = instantOf(Date.UTC(year, month % 12, 1), zone)
    if (at > to) break
    if (at < from) continue
    if (months % 12 === 0) ticks.push({ at, label: String(year), below: '' })
    else ticks.push({ at, label: MONTH_NAMES[month % 12]!, below: year === lastYear ? '' : String(year) })
    lastYear = year
  }
  return ticks
}
