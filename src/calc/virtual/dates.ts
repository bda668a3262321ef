import type { Side } from '../../series/interpolate.ts'
import { civilFromDays, daysFromCivil, daysInMonth, mondayOf } from '../../time/civil.ts'
import { type Instant, US_PER_MS } from '../../time/instant.ts'
import { type TimeZone, UTC } from '../../time/zone.ts'
import { ConstantLeaf } from '../leaves/constant.ts'
import { GeneratedLeaf, type GeneratedSignal } from '../leaves/generated.ts'
import { LocalDays } from './local-days.ts'
import type { VirtualHistorian } from './virtual-historian.ts'

/** What a tag tells of a day. */
interface DateTag {
  readonly summary: string
  /** @param day, today days since 1970-01-01 on the same clocks */
  readonly value: (day: number, today: number) => number
  /** Whether there is one of UTC beside the one of the call's zone. */
  readonly hasUtc: boolean
}

const DATE_TAGS: ReadonlyMap<string, DateTag> = new Map<string, DateTag>([
  ['DAY', { summary: 'Day of the month, 1 to 31.', value: (day) => civilFromDays(day).day, hasUtc: true }],
  [
    'DAY_OF_MONTH',
    { summary: 'Day of the month, 1 to 31.', value: (day) => civilFromDays(day).day, hasUtc: true },
  ],
  [
    'DAY_OF_WEEK',
    { summary: 'Monday 1 to Sunday 7.', value: (day) => day - mondayOf(day) + 1, hasUtc: true },
  ],
  ['DAY_OF_YEAR', { summary: '1 to 366.', value: dayOfYear, hasUtc: true }],
  ['MONTH', { summary: '1 to 12.', value: (day) => civilFromDays(day).month, hasUtc: true }],
  ['YEAR', { summary: 'Such as 2026.', value: (day) => civilFromDays(day).year, hasUtc: true }],
  ['DAYS_IN_MONTH', { summary: 'Length of the month, 28 to 31.', value: monthLength, hasUtc: false }],
  [
    'IS_TODAY',
    {
      summary: "1 on the day of the call's now, 0 on all others.",
      value: (day, today) => Number(day === today),
      hasUtc: false,
    },
  ],
  [
    'IS_BEFORE_TODAY',
    {
      summary: "1 before the day of the call's now, then 0.",
      value: (day, today) => Number(day < today),
      hasUtc: false,
    },
  ],
])

const CURRENT_EPOCH_MS = 'CURRENT_EPOCH_MS'
const UTC_SUFFIX = '_UTC'

function dayOfYear(day: number): number {
  return day - daysFromCivil(civilFromDays(day).year, 1, 1) + 1
}

function monthLength(day: number): number {
  const { year, month } = civilFromDays(day)
  return daysInMonth(year, month)
}

/** The calendar, on the clocks of the call's zone or of UTC. Names are taken in any case. */
export const dates: VirtualHistorian = {
  summary: "The calendar: what the date is on the clocks of the call's zone, or of UTC.",
  tags: [
    {
      name: CURRENT_EPOCH_MS,
      summary: "The call's now in epoch milliseconds, the same at every time; also with _UTC.",
    },
    ...Array.from(DATE_TAGS, ([name, { summary, hasUtc }]) => ({
      name,
      summary: hasUtc ? `${summary.slice(0, -1)}; also with ${UTC_SUFFIX}.` : summary,
    })),
  ],
  rawTimes: 'Wherever the date changes: at midnights. CURRENT_EPOCH_MS has none.',
  stepped: 'Always.',
  leaf: (name, context) => {
    const upper = name.toUpperCase()
    const isUtc = upper.endsWith(UTC_SUFFIX)
    const base = isUtc ? upper.slice(0, -UTC_SUFFIX.length) : upper
    if (base === CURRENT_EPOCH_MS) return ConstantLeaf.of(context.now / US_PER_MS, context)
    const tag = DATE_TAGS.get(base)
    if (tag === undefined || (isUtc && !tag.hasUtc)) return null
    const signal = new DateSignal(tag, isUtc ? UTC : context.zone, context.now)
    return new GeneratedLeaf(signal, `dates/${upper}`, context)
  },
}

/** A number that belongs to a date, held as long as the clocks show it. */
class DateSignal implements GeneratedSignal {
  readonly stepped = true
  readonly linear = true
  readonly #tag: DateTag
  readonly #days: LocalDays
  readonly #today: number

  constructor(tag: DateTag, zone: TimeZone, now: Instant) {
    this.#tag = tag
    this.#days = new LocalDays(zone)
    this.#today = this.#days.dayAt(now)
  }

  valueAt(at: number, side: Side): number {
    // Dates change at whole microseconds, so the one before has what was held until here.
    return this.#tag.value(this.#days.dayAt(side === 'at' ? at : at - 1), this.#today)
  }

  rawAtOrBefore(at: number): number {
    return this.#days.lastChange(at)
  }

  rawAfter(at: number): number {
    return this.#days.nextChange(at)
  }

  countRaw(from: number, to: number): number {
    return this.#days.countChanges(from, to)
  }
}
