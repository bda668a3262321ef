import { civilFromDays } from './civil.ts'
import { type Instant, US_PER_DAY, US_PER_MINUTE, US_PER_MS, US_PER_SECOND } from './instant.ts'
import type { TimeZone } from './zone.ts'

/**
 * Two digits, seconds with their point, three digits: looking them up is what makes a column of timestamps
 * cheap.
 */
const TWO = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
const SECONDS = TWO.map((digits) => `${digits}.`)
const THREE = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'))

/**
 * An instant as ISO 8601 on the clocks of a zone, with three fraction digits, six when there are
 * microseconds, and the offset: `2023-09-25T17:29:04.446+02:00`; `Z` for UTC. Offsets with odd seconds
 * (before 1900, mostly) are `+00:53:28`.
 */
export function formatInstant(at: Instant, zone: TimeZone): string {
  let format = formatters.get(zone)
  if (format === undefined) {
    format = createInstantFormatter(zone)
    formatters.set(zone, format)
  }
  return format(at)
}

/** Instants that are printed one by one are near each other too, most of them near now. */
const formatters = new WeakMap<TimeZone, (at: number) => string>()

/**
 * A function that prints many instants as `formatInstant` does, fastest when they are near each other: it
 * keeps the text of the last minute and day. Takes numbers so that it can be given the elements of a column
 * of times; they must be whole.
 */
export function createInstantFormatter(zone: TimeZone): (at: number) => string {
  const minute = new MinuteText(zone)
  return (at) => {
    if (at < minute.start || at >= minute.end) minute.enter(at)
    // Below 2^31, so that this is integer arithmetic.
    const inMinute = (at - minute.origin) | 0
    const seconds = (inMinute / US_PER_SECOND) | 0
    const inSecond = inMinute - seconds * US_PER_SECOND
    const ms = (inSecond / US_PER_MS) | 0
    const us = inSecond - ms * US_PER_MS
    // Short texts are copied, longer ones chained: this order leaves the caller a chain of two to flatten.
    const second = SECONDS[seconds]! + THREE[ms]!
    return minute.prefix + (us === 0 ? second + minute.suffix : second + (THREE[us]! + minute.suffix))
  }
}

/**
 * The text around the seconds of timestamps in one minute of a zone. It
 * holds for instants from `start` to `end`; for another one `enter` its minute first.
 */
class MinuteText {
  readonly #day: DayText
  /** First instant that the text holds for; nothing is in the minute before the first `enter`. */
  start = 0
  /** First instant after those. */
  end = 0
  /** Instant at which the seconds are 0: `start`, unless the offset changed within the minute. */
  origin = 0
  /** Up to the seconds: `2023-09-25T17:29:`. */
  prefix = ''

  constructor(zone: TimeZone) {
    this.#day = new DayText(zone)
  }

  /** After the fraction: `+02:00` or `Z`. */
  get suffix(): string {
    return this.#day.suffix
  }

  /** Goes to the minute that holds an instant. */
  enter(at: number): void {
    const day = this.#day
    if (at < day.start || at >= day.end) day.enter(at)
    const minuteOfDay = Math.floor((at - day.midnight) / US_PER_MINUTE)
    const hour = (minuteOfDay / 60) | 0
    this.prefix = `${day.date}${TWO[hour]}:${TWO[minuteOfDay - hour * 60]}:`
    this.origin = day.midnight + minuteOfDay * US_PER_MINUTE
    this.start = Math.max(this.origin, day.start)
    this.end = Math.min(this.origin + US_PER_MINUTE, day.end)
  }
}

/**
 * The text around the time of day of timestamps in one day of a zone, or in the part of it with one offset. It holds
 * for instants from `start` to `end`; for another one `enter` its day first.
 */
export class DayText {
  readonly #zone: TimeZone
  /** First instant that the text holds for; nothing is in the day before the first `enter`. */
  start = 0
  /** First instant after those. */
  end = 0
  /** Instant at which the clocks that show this text showed or would have shown 00:00. */
  midnight = 0
  /** Up to the hour: `2023-09-25T`. */
  date = ''
  /** After the fraction: `+02:00` or `Z`. */
  suffix = ''

  constructor(zone: TimeZone) {
    this.#zone = zone
  }

  /** Goes to the day that holds an instant. */
  enter(at: number): void {
    const { starts, offsets } = this.#zone
    const span = this.#zone.spanAt(at)
    const offset = offsets[span]!
    const day = Math.floor((at + offset) / US_PER_DAY)
    this.midnight = day * US_PER_DAY - offset
    this.date = `${formatDay(day)}T`
    this.suffix = this.#zone.isUtc ? 'Z' : formatOffset(offset)
    this.start = Math.max(this.midnight, starts[span]!)
    this.end = Math.min(this.midnight + US_PER_DAY, starts[span + 1] ?? Number.POSITIVE_INFINITY)
  }
}

/** `YYYY-MM-DD` of a day since 1970-01-01. */
function formatDay(days: number): string {
  const { year, month, day } = civilFromDays(days)
  return `${String(year).padStart(4, '0')}-${TWO[month]}-${TWO[day]}`
}

/** `+02:00`, or `+00:53:28` where the offset has seconds. */
function formatOffset(offsetUs: number): string {
  const seconds = Math.abs(offsetUs) / US_PER_SECOND
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const rest = seconds % 60
  return `${offsetUs < 0 ? '-' : '+'}${TWO[hours]}:${TWO[minutes]}${rest === 0 ? '' : `:${TWO[rest]}`}`
}
