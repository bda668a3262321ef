import { daysOf, monthsOf } from './duration.ts'
import { type TimeStep, weekdayOf } from './expression.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_DAY, US_PER_MS } from './instant.ts'
import { addToLocal, instantOfLocal } from './local.ts'
import type { Offset } from './offset.ts'
import { CLOCK_PERIOD_US, firstDayOf, type Period, startOfNextPeriod, startOfPeriod } from './periods.ts'
import type { TimeZone } from './zone.ts'

/** Where an offset leads from the instants of a span: all of them equally far, or all to the same instant. */
export type SpanTarget =
  | { readonly kind: 'moved'; readonly us: number }
  | { readonly kind: 'fixed'; readonly at: Instant }
  /** Out of the accepted range. */
  | { readonly kind: 'none' }

/** Instants from which an offset leads in the same way; spans that join may be alike. */
export interface OffsetSpan {
  /** Included; MIN_INSTANT at the earliest. */
  readonly from: Instant
  /** Excluded; END_INSTANT at the latest. */
  readonly to: Instant
  readonly target: SpanTarget
}

/**
 * The span of an instant. `applyOffset` leads from each instant of it to what the target says; on a calendar that is so
 * between changes of clocks and, for months, between midnights. Costs a few look-ups in the zone.
 */
export function offsetSpanAt(at: Instant, offset: Offset, zone: TimeZone): OffsetSpan {
  const walk = new Walk(at, zone)
  switch (offset.kind) {
    case 'exact':
    case 'clock':
      walk.addUs(offset.us)
      break
    case 'calendar': {
      const { sign, duration } = offset
      walk.addCalendar(sign * monthsOf(duration), sign * daysOf(duration))
      walk.addUs(sign * duration.us)
      break
    }
    case 'expression':
      for (const step of offset.expression) walk.take(step)
  }
  return walk.span()
}

/** Whether two spans map alike, so that nothing changes where they join. */
export function isSameTarget(a: SpanTarget, b: SpanTarget): boolean {
  if (a.kind === 'moved') return b.kind === 'moved' && a.us === b.us
  if (a.kind === 'fixed') return b.kind === 'fixed' && a.at === b.at
  return b.kind === 'none'
}

/**
 * Takes the steps of an offset from one instant, and keeps the span around it within which every step does the same:
 * moves with the instant, or stays where it is.
 */
class Walk {
  readonly #start: Instant
  readonly #zone: TimeZone
  #from: number = MIN_INSTANT
  #to: number = END_INSTANT
  /** Microseconds since 1970 of an instant, or on the clocks of the zone. */
  #value: number
  #isLocal = false
  /** Whether it moves with the instant. */
  #moves = true
  #isAccepted = true

  constructor(start: Instant, zone: TimeZone) {
    this.#start = start
    this.#zone = zone
    this.#value = start
  }

  span(): OffsetSpan {
    this.#toInstant()
    this.#checkAccepted()
    const value = this.#value
    const target: SpanTarget = !this.#isAccepted
      ? { kind: 'none' }
      : this.#moves
        ? { kind: 'moved', us: value - this.#start }
        : { kind: 'fixed', at: instantFromUs(value) }
    return { from: instantFromUs(this.#from), to: instantFromUs(this.#to), target }
  }

  take(step: TimeStep): void {
    switch (step.kind) {
      case 'add': {
        const { months, days, us } = step.amount
        if (months !== 0 || days !== 0) {
          this.#toLocal()
          this.#addLocal(step.sign * months, step.sign * days)
        }
        if (us !== 0) this.addUs(step.sign * us)
        break
      }
      case 'start':
        this.#setTo(step.period, (at) => startOfPeriod(at, step.period, this.#zone, step.shift))
        break
      case 'end':
        this.#setTo(step.period, (at) => {
          const start = startOfPeriod(at, step.period, this.#zone, step.shift)
          return startOfNextPeriod(start, step.period, this.#zone) - US_PER_MS
        })
        break
      case 'clock':
        this.#toLocal()
        this.#set(this.#day() + step.us)
        break
      case 'weekday':
        this.#toLocal()
        this.#set(weekdayOf(this.#day() / US_PER_DAY, step) * US_PER_DAY)
        break
      case 'same-time':
        this.#sameTime()
        break
      default:
        step satisfies never
    }
    // As resolveExpression, which gives up after the first step that leaves the range.
    if (this.#isAccepted) this.#checkAccepted()
  }

  addUs(us: number): void {
    this.#toInstant()
    this.#value += us
  }

  addCalendar(months: number, days: number): void {
    if (months === 0 && days === 0) return
    this.#toLocal()
    this.#addLocal(months, days)
    this.#toInstant()
  }

  #addLocal(months: number, days: number): void {
    // How many days a month has depends on the day.
    if (months !== 0) this.#keepDay()
    this.#value = addToLocal(this.#value, months, days)
  }

  /** The day of the value, at the time of the clock at the start. */
  #sameTime(): void {
    const clock = new Walk(this.#start, this.#zone)
    clock.#toLocal()
    clock.#keepDay()
    this.#from = Math.max(this.#from, clock.#from)
    this.#to = Math.min(this.#to, clock.#to)
    this.#toLocal()
    const day = this.#day()
    this.#moves = true
    const local = day + (clock.#value - Math.floor(clock.#value / US_PER_DAY) * US_PER_DAY)
    // Today at the same time is now, also the second time that the clocks show it.
    this.#isLocal = local !== clock.#value
    this.#value = this.#isLocal ? local : this.#start
  }

  /**
   * Goes to an instant that is the same for all instants of a period, as long as the clocks are not changed: where they
   * go back over midnight, it is the day before once more after the first instants of a day.
   */
  #setTo(period: Period, find: (at: Instant) => number): void {
    this.#toInstant()
    const at = instantFromUs(this.#value)
    this.#toLocal()
    this.#keep(...localPeriod(this.#value, period))
    this.#isLocal = false
    this.#set(find(at))
  }

  #set(value: number): void {
    this.#value = value
    this.#moves = false
  }

  /** Beginning of the day of a local value, which it keeps. */
  #day(): number {
    this.#keepDay()
    return Math.floor(this.#value / US_PER_DAY) * US_PER_DAY
  }

  #keepDay(): void {
    const day = Math.floor(this.#value / US_PER_DAY) * US_PER_DAY
    this.#keep(day, day + US_PER_DAY)
  }

  #toLocal(): void {
    if (this.#isLocal) return
    const { starts, offsets } = this.#zone
    const index = this.#zone.spanAt(this.#value)
    this.#keep(starts[index]!, starts[index + 1] ?? Number.POSITIVE_INFINITY)
    this.#value += offsets[index]!
    this.#isLocal = true
  }

  #toInstant(): void {
    if (!this.#isLocal) return
    const local = this.#value
    // The clocks show it in one way between two of the local times at which one of their changes begins or ends.
    let low = Number.NEGATIVE_INFINITY
    let high = Number.POSITIVE_INFINITY
    const { starts, offsets } = this.#zone
    const near = this.#zone.spanAt(local)
    for (let i = Math.max(1, near - 2); i < Math.min(starts.length, near + 4); i++) {
      for (const edge of [starts[i]! + offsets[i - 1]!, starts[i]! + offsets[i]!]) {
        if (edge <= local) low = Math.max(low, edge)
        else high = Math.min(high, edge)
      }
    }
    this.#keep(low, high)
    this.#value = instantOfLocal(local, this.#zone)
    this.#isLocal = false
  }

  /** As the value is in the accepted range or not, so it is in the whole span. */
  #checkAccepted(): void {
    const [value, isLocal] = [this.#value, this.#isLocal]
    this.#toInstant()
    if (this.#value < MIN_INSTANT) this.#keep(Number.NEGATIVE_INFINITY, MIN_INSTANT)
    else if (this.#value >= END_INSTANT) this.#keep(END_INSTANT, Number.POSITIVE_INFINITY)
    else this.#keep(MIN_INSTANT, END_INSTANT)
    if (this.#value < MIN_INSTANT || this.#value >= END_INSTANT) this.#isAccepted = false
    this.#value = value
    this.#isLocal = isLocal
  }

  /** Cuts the span to the instants whose value is in [low, high). */
  #keep(low: number, high: number): void {
    if (!this.#moves) return
    // How far it has moved is small, and exact; how far the bound lies away need not be.
    const back = this.#start - this.#value
    this.#from = Math.max(this.#from, low + back)
    this.#to = Math.min(this.#to, high + back)
  }
}

/** A period on the clocks that holds a local time: from its beginning up to that of the next. */
function localPeriod(local: number, period: Period): readonly [from: number, to: number] {
  if (period === 'second' || period === 'minute' || period === 'hour') {
    const us = CLOCK_PERIOD_US[period]
    const from = Math.floor(local / us) * us
    return [from, from + us]
  }
  const day = Math.floor(local / US_PER_DAY)
  return [firstDayOf(day, period) * US_PER_DAY, firstDayOf(day, period, 1) * US_PER_DAY]
}
