import { mondayOf } from './civil.ts'
import { type Instant, instantFromUs, isAccepted, US_PER_DAY, US_PER_MS } from './instant.ts'
import { addToLocal, instantOfLocal } from './local.ts'
import { type Period, startOfNextPeriod, startOfPeriod } from './periods.ts'
import type { Amount } from './units.ts'
import { localAt, type TimeZone } from './zone.ts'

/**
 * What a relative time says, whichever dialect it was written in: steps that lead from a `now` to the instant
 * meant. Plain data, so one that was parsed once can be resolved against many instants.
 */
export type TimeExpression = readonly TimeStep[]

export type TimeStep =
  /**
   * Later by an amount, or earlier for sign -1: calendar steps on the clocks of the zone, then exact time.
   */
  | { readonly kind: 'add'; readonly sign: 1 | -1; readonly amount: Amount }
  /** First instant of the period, or of one `shift` periods later. */
  | { readonly kind: 'start'; readonly period: Period; readonly shift: number }
  /** Last millisecond of the period, or of one `shift` periods later. */
  | { readonly kind: 'end'; readonly period: Period; readonly shift: number }
  /** A weekday (Monday is 0) at 00:00: of this week, or the latest before or the first after the day. */
  | { readonly kind: 'weekday'; readonly weekday: number; readonly which: 'this' | 'last' | 'next' }
  /** The same day at a time of the clock, in microseconds since midnight. */
  | { readonly kind: 'clock'; readonly us: number }
  /** The same day at the time of the clock at `now`. */
  | { readonly kind: 'same-time' }

/**
 * The instant of an expression.
 * @returns null outside the accepted range
 */
export function resolveExpression(expression: TimeExpression, now: Instant, zone: TimeZone): Instant | null {
  let place = new Place(now, zone)
  for (const step of expression) {
    place = take(step, place, now, zone)
    // Steps are bounded, so one that starts in range cannot leave the numbers that are exact.
    if (!isAccepted(place.at)) return null
  }
  return isAccepted(place.at) ? place.at : null
}

/**
 * An instant or, after a calendar step, a local time that may not exist. Only the last of several calendar
 * steps and clocks is taken to an existing instant, so that `1 day ago at 10:00` does not depend on a gap at
 * this time of yesterday.
 */
class Place {
  readonly zone: TimeZone
  readonly #at: Instant | null
  readonly #local: number | null

  constructor(at: Instant | null, zone: TimeZone, local: number | null = null) {
    this.#at = at
    this.zone = zone
    this.#local = local
  }

  get at(): Instant {
    return this.#at ?? instantOfLocal(this.#local!, this.zone)
  }

  get local(): number {
    return this.#local ?? localAt(this.#at!, this.zone)
  }
}

function take(step: TimeStep, place: Place, now: Instant, zone: TimeZone): Place {
  switch (step.kind) {
    case 'add':
      return add(step.amount, step.sign, place, zone)
    case 'start':
      return new Place(startOfPeriod(place.at, step.period, zone, step.shift), zone)
    case 'end': {
      const start = startOfPeriod(place.at, step.period, zone, step.shift)
      return new Place(instantFromUs(startOfNextPeriod(start, step.period, zone) - US_PER_MS), zone)
    }
    case 'weekday':
      return new Place(null, zone, weekdayOf(dayOf(place.local) / US_PER_DAY, step) * US_PER_DAY)
    case 'clock':
      return new Place(null, zone, dayOf(place.local) + step.us)
    case 'same-time': {
      const clock = localAt(now, zone)
      // The time of the day first: the days of both together are beyond 2^53 before 1828 and after 2112.
      const local = dayOf(place.local) + (clock - dayOf(clock))
      // Today at the same time is now, also the second time that the clocks show it.
      return local === clock ? new Place(now, zone) : new Place(null, zone, local)
    }
  }
}

function add({ months, days, us }: Amount, sign: 1 | -1, place: Place, zone: TimeZone): Place {
  const stepped =
    months === 0 && days === 0
      ? place
      : new Place(null, zone, addToLocal(place.local, sign * months, sign * days))
  return us === 0 ? stepped : new Place(instantFromUs(stepped.at + sign * us), zone)
}

/** Days since 1970-01-01 of a weekday as it is said on a day. */
export function weekdayOf(day: number, { weekday, which }: TimeStep & { readonly kind: 'weekday' }): number {
  const ofWeek = mondayOf(day) + weekday
  if (which === 'last') return ofWeek < day ? ofWeek : ofWeek - 7
  if (which === 'next') return ofWeek > day ? ofWeek : ofWeek + 7
  return ofWeek
}

function dayOf(local: number): number {
  return Math.floor(local / US_PER_DAY) * US_PER_DAY
}
