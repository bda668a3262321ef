import { US_PER_DAY, US_PER_HOUR, US_PER_MINUTE, US_PER_MS, US_PER_SECOND } from './instant.ts'

/** A unit of time: an exact number of microseconds, or a step on the calendar. */
export type Unit =
  | { readonly kind: 'exact'; readonly us: number }
  | { readonly kind: 'calendar'; readonly months: number; readonly days: number }

const exact = (us: number): Unit => ({ kind: 'exact', us })
const calendar = (months: number, days: number): Unit => ({ kind: 'calendar', months, days })

const UNITS: readonly (readonly [Unit, readonly string[]])[] = [
  [exact(US_PER_MS), ['ms', 'millisecond', 'milliseconds']],
  [exact(US_PER_SECOND), ['s', 'sec', 'secs', 'second', 'seconds']],
  [exact(US_PER_MINUTE), ['m', 'min', 'mins', 'minute', 'minutes']],
  [exact(US_PER_HOUR), ['h', 'hr', 'hrs', 'hour', 'hours']],
  [calendar(0, 1), ['d', 'day', 'days']],
  [calendar(0, 7), ['w', 'week', 'weeks']],
  [calendar(1, 0), ['mo', 'month', 'months']],
  [calendar(3, 0), ['quarter', 'quarters']],
  [calendar(12, 0), ['y', 'year', 'years']],
]

const byName = new Map(UNITS.flatMap(([unit, names]) => names.map((name) => [name, unit] as const)))

/** All names and abbreviations of units. */
export const UNIT_NAMES: readonly string[] = [...byName.keys()]

/** The unit of a name or abbreviation in lower case (`h`, `hours`), null when there is none. */
export function unitNamed(name: string): Unit | null {
  return byName.get(name) ?? null
}

/** An amount of time: calendar steps first, then exact time. All of the same sign; months and days whole. */
export interface Amount {
  readonly months: number
  readonly days: number
  readonly us: number
}

export const NO_TIME: Amount = { months: 0, days: 0, us: 0 }

/**
 * Some 600 years: more leads out of the accepted range from wherever one starts, and could lose exactness.
 */
const MAX_MONTHS = 7_200
const MAX_DAYS = 220_000

/**
 * A number of units from its decimal digits: `1`, `2.5`, `0.25`. Decimals of a day or week are exact time
 * with days of 24 hours, and rounded to the nearest microsecond.
 * @returns null for decimals of a month or year, and for more than can lie between two accepted instants
 */
export function amountOf(digits: string, unit: Unit): Amount | null {
  const [whole = '', fraction = ''] = digits.split(/[.,]/)
  const count = Number(whole)
  const part = Number(`0.${fraction}`)
  if (unit.kind === 'exact') return within({ months: 0, days: 0, us: scaled(count, part, unit.us) })
  if (part === 0) return within({ months: count * unit.months, days: count * unit.days, us: 0 })
  if (unit.months !== 0) return null
  return within({ months: 0, days: 0, us: scaled(count, part, unit.days * US_PER_DAY) })
}

function scaled(count: number, part: number, us: number): number {
  return count * us + Math.round(part * us)
}

/** The sum, null when it leaves the bounds. */
export function addAmounts(a: Amount, b: Amount): Amount | null {
  return within({ months: a.months + b.months, days: a.days + b.days, us: a.us + b.us })
}

function within(amount: Amount): Amount | null {
  const fits = amount.months <= MAX_MONTHS && amount.days <= MAX_DAYS && amount.us <= Number.MAX_SAFE_INTEGER
  return fits ? amount : null
}
