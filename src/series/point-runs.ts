import { type PointColumns, STATUS_OK } from './columns.ts'
import { goodTimeOf, increaseOfZoneMap, transitionsOf, type ZoneMap } from './zone-map.ts'

/** Which of its results are taken from a state: a summary need not have what the others are made of. */
export interface RunUses {
  readonly durations: boolean
  readonly transitions: boolean
  readonly rises: boolean
}

const ALL_USES: RunUses = { durations: true, transitions: true, rises: true }

/**
 * State of aggregates that take the raw points in their order, with the last ones before the window: how long a good or
 * a BAD point was the last one, changes between zero and not zero, and rises.
 */
export class PointRuns {
  readonly #now: number
  readonly #uses: RunUses
  /** When the last point began to count, in the window that is fed; NaN before the first point. */
  #since = Number.NaN
  #isGood = false
  /** Of the last good point, also before the window. */
  #lastGood = Number.NaN
  #goodUs = 0
  #badUs = 0
  #transitions = 0
  #before = Number.NaN
  #first = Number.NaN
  #rises = 0

  /** @param now an instant, at which the last point ceases to count */
  constructor(now: number, uses: RunUses = ALL_USES) {
    this.#now = now
    this.#uses = uses
  }

  /** Begins the next window; the points before it were fed. */
  begin(start: number): void {
    if (!Number.isNaN(this.#since)) this.#since = start
    this.#goodUs = 0
    this.#badUs = 0
    this.#transitions = 0
    this.#before = this.#lastGood
    this.#first = Number.NaN
    this.#rises = 0
  }

  /** The next points, those with index from start (included) to end (excluded); ascending and after all before. */
  add({ times, values, statuses }: PointColumns, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const value = values[i]!
      this.#count(times[i]!)
      this.#since = times[i]!
      this.#isGood = statuses[i] === STATUS_OK && !Number.isNaN(value)
      if (this.#isGood) this.#addGood(value)
    }
  }

  /** Whether the next points can be added by their summary. */
  takes(summary: ZoneMap): boolean {
    const { durations, transitions, rises } = this.#uses
    // Which of the points before `now` are good a summary of both sides does not show.
    const isCut = summary.firstTime < this.#now && this.#now < summary.lastTime
    if (durations && (isCut || goodTimeOf(summary) === undefined)) return false
    if (transitions && transitionsOf(summary) === undefined) return false
    return !rises || increaseOfZoneMap(summary) !== undefined
  }

  /** The next points by their summary, in place of `add`; only after `takes` said yes to it. */
  addSummary(summary: ZoneMap): void {
    const { firstTime, lastTime, lastGoodTime, numGood, first, last } = summary
    this.#count(firstTime)
    if (firstTime < this.#now) {
      const goodTime = goodTimeOf(summary) ?? 0
      this.#goodUs += goodTime
      this.#badUs += lastTime - firstTime - goodTime
    }
    this.#since = lastTime
    this.#isGood = lastGoodTime === lastTime
    if (numGood === 0) return
    this.#addGood(first)
    this.#transitions += transitionsOf(summary) ?? 0
    this.#rises += increaseOfZoneMap(summary) ?? 0
    this.#lastGood = last
  }

  /** Ends the window: its last point counts until here. */
  end(end: number): void {
    this.#count(end)
    if (!Number.isNaN(this.#since)) this.#since = end
  }

  /** Microseconds from a good point to the next one of any status, up to `now`. */
  get goodUs(): number {
    return this.#goodUs
  }

  /** The same from BAD points. */
  get badUs(): number {
    return this.#badUs
  }

  /** Changes between zero and not zero of good points, the first against the last good one before the window. */
  get transitions(): number {
    return this.#transitions
  }

  /** What the window's good points add up to as a counter. */
  get rises(): Rises {
    const last = Number.isNaN(this.#first) ? Number.NaN : this.#lastGood
    return { before: this.#before, first: this.#first, rises: this.#rises, last }
  }

  #addGood(value: number): void {
    const last = this.#lastGood
    if (!Number.isNaN(last) && (value === 0) !== (last === 0)) this.#transitions++
    if (Number.isNaN(this.#first)) this.#first = value
    else this.#rises += riseOf(last, value)
    this.#lastGood = value
  }

  #count(until: number): void {
    const length = Math.min(until, this.#now) - this.#since
    if (!(length > 0)) return
    if (this.#isGood) this.#goodUs += length
    else this.#badUs += length
  }
}

/** Good points of a window as a counter; NaN where there is none. */
export interface Rises {
  /** Value of the last good point before the window. */
  readonly before: number
  readonly first: number
  /** Sum of the rises from the first to the last. */
  readonly rises: number
  readonly last: number
}

/** By how much a counter rose from one reading to the next; one that fell began anew at 0. */
export function riseOf(from: number, to: number): number {
  return to >= from ? to - from : to
}

/** The signal at the ends of a window; NaN for no value. */
export interface WindowEnds {
  /** Limit from the left at the window's start. */
  readonly beforeStart: number
  readonly start: number
  /** Limit from the left at the window's end. */
  readonly end: number
}

/**
 * How much a counter rose in a window: from its signal just before the window over its good points and, when it is
 * linear, on to its signal just before the end, so that windows add up. Where there is no signal just before the
 * window, the last good point takes its place. A restart counts with the good point that shows it.
 * @returns NaN where the window has neither a value at its start nor a good point
 */
export function increaseOf(
  { before, first, rises, last }: Rises,
  { beforeStart, start, end }: WindowEnds,
  stepped: boolean,
): number {
  if (Number.isNaN(start) && Number.isNaN(first)) return Number.NaN
  const base = [beforeStart, before, start].find((value) => !Number.isNaN(value)) ?? first
  const level = Number.isNaN(first) ? base : last
  // On the line down to the first point after a restart the base is no reading of the counter.
  const atFirst = Number.isNaN(first) ? 0 : first < before ? first : riseOf(base, first)
  const atEnd = stepped || Number.isNaN(end) ? 0 : Math.max(0, end - level)
  return atFirst + rises + atEnd
}
