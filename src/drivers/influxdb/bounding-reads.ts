import type { BoundingValues, CallContext } from '../../historian/contract.ts'
import type { Layout, SeriesField } from './layout.ts'
import { BEGINNING, END } from './point-reads.ts'
import { runScans, type ScanOptions, type ScanSource } from './scan.ts'

/**
 * A point of a segment costs some 4 microseconds to fetch, finding one beside a time some 500: so many points in a
 * segment cost as much as one look-up.
 */
const POINTS_PER_LOOKUP = 120
const LEAST_POINTS = 1_000
const MOST_POINTS = 50_000
/** Tags whose points are fetched in one go. */
const TAGS_AT_ONCE = 50

/** The good points beside each time; see Historian.readBoundingValues. */
export async function readBoundingValues(
  source: ScanSource,
  layout: Layout,
  tags: readonly string[],
  times: Float64Array,
  context: CallContext,
): Promise<readonly BoundingValues[]> {
  const sweeps = tags.map((tag) => new BoundingSweep(layout.parse(tag), times))
  for (let at = 0; at < sweeps.length; at += TAGS_AT_ONCE) {
    const some = sweeps.slice(at, at + TAGS_AT_ONCE)
    await runScans(
      source,
      some.flatMap((sweep) => sweep.firstScans()),
      context,
    )
    await runScans(
      source,
      some.flatMap((sweep) => sweep.furtherScans()),
      context,
    )
  }
  return sweeps.map((sweep) => sweep.finish())
}

/** A good point; the time is NaN where there is none. */
interface Found {
  time: number
  value: number
}

/**
 * Finds the bounding values in a tag's points: first from the points of the segment that the times span, as long as
 * they are few enough for the number of times; the times behind those have their bounding values looked up one by one.
 */
class BoundingSweep {
  readonly #series: SeriesField | null
  readonly #times: Float64Array
  readonly #result: BoundingValues
  readonly #before: Found = { time: Number.NaN, value: Number.NaN }
  readonly #after: Found = { time: Number.NaN, value: Number.NaN }
  readonly #most: number
  /** Points of the segment so far, the last of them, and the first time that is not behind it. */
  #points = 0
  #last: Found = { time: Number.NaN, value: Number.NaN }
  #next = 0
  /** Points found between the times from `#next` on: the last up to and the first from each. */
  #lookups: { readonly upTo: Found; readonly from: Found }[] = []

  constructor(series: SeriesField | null, times: Float64Array) {
    this.#series = series
    this.#times = times
    const none = () => new Float64Array(times.length).fill(Number.NaN)
    this.#result = { beforeTimes: none(), beforeValues: none(), afterTimes: none(), afterValues: none() }
    this.#most = Math.min(MOST_POINTS, Math.max(LEAST_POINTS, times.length * 2 * POINTS_PER_LOOKUP))
  }

  /** Before the first time, after the last, and the segment between. */
  firstScans(): ScanOptions[] {
    const series = this.#series
    if (series === null || this.#times.length === 0) return []
    const first = this.#times[0]!
    const last = this.#times.at(-1)!
    const scans = [
      lookup(series, BEGINNING, first + 1, 'desc', this.#before),
      lookup(series, last, END, 'asc', this.#after),
    ]
    if (this.#times.length === 1) return scans
    const sink = (time: number, value: number) => this.#add(time, value)
    return [
      ...scans,
      {
        series,
        from: first + 1,
        to: last,
        order: 'asc',
        wanted: this.#most,
        goodOnly: true,
        isNear: false,
        sink,
      },
    ]
  }

  /** The times that the segment did not reach, as it was cut: between each and the one before. */
  furtherScans(): ScanOptions[] {
    const series = this.#series
    if (series === null || this.#points < this.#most) return []
    const times = this.#times
    const span = times.at(-1)! - times[0]!
    const left = times.length - this.#next
    // Where the points are few, the rest of the segment is cheaper than looking at each time.
    const expected = this.#points * (span / Math.max(1, this.#last.time - times[0]!) - 1)
    if (expected <= left * 2 * POINTS_PER_LOOKUP) {
      const sink = (time: number, value: number) => this.#add(time, value)
      return [
        {
          series,
          from: this.#last.time + 1,
          to: times.at(-1)!,
          order: 'asc',
          wanted: Number.POSITIVE_INFINITY,
          goodOnly: true,
          isNear: false,
          sink,
        },
      ]
    }
    return Array.from(times.subarray(this.#next), (time, index) => {
      const place = this.#next + index
      const upTo: Found = { time: Number.NaN, value: Number.NaN }
      const from: Found = { time: Number.NaN, value: Number.NaN }
      this.#lookups.push({ upTo, from })
      const start = index === 0 ? this.#last.time : times[place - 1]!
      const end = place + 1 < times.length ? times[place + 1]! : time + 1
      return [
        lookup(series, start + 1, time + 1, 'desc', upTo),
        // At the last time the look-up of the beginning is behind it.
        ...(place + 1 < times.length ? [lookup(series, time, end, 'asc', from)] : []),
      ]
    }).flat()
  }

  finish(): BoundingValues {
    this.#finishLookups()
    // Times without a point of the segment behind them.
    for (; this.#next < this.#times.length; this.#next++) {
      // The segment ends before the last time: a point at it was found by looking behind.
      const isAt = this.#after.time === this.#times[this.#next]
      this.#set(this.#next, isAt ? this.#after : this.#last, this.#after)
    }
    const { beforeTimes, beforeValues } = this.#result
    // What is before all of the segment may have been found after it was read.
    for (let index = 0; index < this.#times.length && Number.isNaN(beforeTimes[index]!); index++) {
      beforeTimes[index] = this.#before.time
      beforeValues[index] = this.#before.value
      if (this.#before.time === this.#times[index]) this.#setAfter(index, this.#before)
    }
    return this.#result
  }

  /** The next good point of the segment. */
  #add(time: number, value: number): void {
    this.#points++
    const times = this.#times
    const point = { time, value }
    while (this.#next < times.length && times[this.#next]! <= time) {
      const isAt = times[this.#next] === time
      this.#set(this.#next, isAt ? point : this.#last, point)
      this.#next++
    }
    this.#last = point
  }

  #finishLookups(): void {
    const lookups = this.#lookups
    const first = this.#next
    let before = this.#last
    for (const [index, { upTo }] of lookups.entries()) {
      if (!Number.isNaN(upTo.time)) before = upTo
      this.#set(first + index, before, NONE)
    }
    let after: Found = this.#after
    for (let index = lookups.length - 1; index >= 0; index--) {
      const { from } = lookups[index]!
      if (!Number.isNaN(from.time)) after = from
      this.#setAfter(first + index, after)
    }
    this.#next += lookups.length
  }

  #set(index: number, before: Found, after: Found): void {
    this.#result.beforeTimes[index] = before.time
    this.#result.beforeValues[index] = before.value
    this.#setAfter(index, after)
  }

  #setAfter(index: number, after: Found): void {
    this.#result.afterTimes[index] = after.time
    this.#result.afterValues[index] = after.value
  }
}

const NONE: Found = { time: Number.NaN, value: Number.NaN }

/** The good point nearest to one end of [from, to). */
function lookup(
  series: SeriesField,
  from: number,
  to: number,
  order: 'asc' | 'desc',
  found: Found,
): ScanOptions {
  const sink = (time: number, value: number) => {
    found.time = time
    found.value = value
  }
  return { series, from, to, order, wanted: 1, goodOnly: true, isNear: true, sink }
}
