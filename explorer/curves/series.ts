/** What is known of the signal of a pen in a range, ready to draw. */
export interface Series {
  /** What was asked for, in epoch milliseconds. */
  readonly from: number
  readonly to: number
  readonly columns: number
  /** Ascending. */
  readonly times: Float64Array
  /** NaN where the line breaks. */
  readonly values: Float64Array
  /** Whether points were left out, or interpolated ones stand for them. */
  readonly sampled: boolean | 'interpolated'
}

export const EMPTY_SERIES: Series = {
  from: 0,
  to: 0,
  columns: 0,
  times: new Float64Array(0),
  values: new Float64Array(0),
  sampled: false,
}

/** Index of the first time at or after an instant. */
export function firstAtOrAfter(times: Float64Array, at: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Least and greatest value seen in a span, the signal's values at its edges included; null without any. */
export function extremesOf(
  { times, values }: Series,
  from: number,
  to: number,
  stepped: boolean,
): readonly [number, number] | null {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  const take = (value: number) => {
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  const first = firstAtOrAfter(times, from)
  let index = first
  for (; index < times.length && times[index]! <= to; index++) take(values[index]!)
  if (first > 0) take(between(times, values, first - 1, from, stepped))
  if (index > 0 && index < times.length) take(between(times, values, index - 1, to, stepped))
  return least <= greatest ? [least, greatest] : null
}

/** Value between a point and the next one; NaN where the line is broken. */
function between(
  times: Float64Array,
  values: Float64Array,
  index: number,
  at: number,
  stepped: boolean,
): number {
  const value = values[index]!
  if (stepped || index + 1 >= times.length) return value
  const next = values[index + 1]!
  const share = (at - times[index]!) / (times[index + 1]! - times[index]!)
  return value + share * (next - value)
}

/** What a pen reads at the cursor. */
export interface Reading {
  /** The point's own time; of a value on the line the cursor's. */
  readonly at: number
  /** Null where there is no value at the cursor. */
  readonly value: number | null
  /**
   * - `point`: a point, or the one that is held there;
   * - `line`: on the line between points;
   * - `earlier`: held from a point before what is loaded.
   */
  readonly kind: 'point' | 'line' | 'earlier'
}

/**
 * What a pen reads at an instant: a point within reach of it, else the signal's own value. A break between the cursor
 * and its points reads as no value at the time of the break.
 * @param reachMs  how far a point may be from the cursor to be meant, of linear pens
 */
export function readingAt(series: Series, at: number, stepped: boolean, reachMs: number): Reading | null {
  const { times, values } = series
  if (times.length === 0) return null
  const next = firstAtOrAfter(times, at)
  const before = times[next] === at ? next : next - 1
  if (before < 0) return null
  if (Number.isNaN(values[before]!)) return { at: times[before]!, value: null, kind: 'point' }
  const isHeld = stepped || next >= times.length || Number.isNaN(values[next]!)
  if (isHeld)
    return { at: times[before]!, value: values[before]!, kind: isEdge(series, before) ? 'earlier' : 'point' }
  const nearest = at - times[before]! <= times[next]! - at ? before : next
  if (Math.abs(times[nearest]! - at) <= reachMs && !isEdge(series, nearest)) {
    return { at: times[nearest]!, value: values[nearest]!, kind: 'point' }
  }
  return { at, value: between(times, values, before, at, stepped), kind: 'line' }
}

/** Whether an entry is the signal's value at an edge of what was asked for, where no point stands. */
function isEdge({ times, from, to }: Series, index: number): boolean {
  return times[index] === Math.round(from) || times[index] === Math.round(to)
}

/** Value of the signal itself at an instant; null where it has none. */
export function signalAt({ times, values }: Series, at: number, stepped: boolean): number | null {
  const next = firstAtOrAfter(times, at)
  const before = times[next] === at ? next : next - 1
  if (before < 0 || before >= times.length) return null
  const value = between(times, values, before, at, stepped)
  if (!Number.isNaN(value)) return value
  return Number.isNaN(values[before]!) ? null : values[before]!
}

/** The series with newer points behind its own, for a trend that follows now. */
export function appended(
  series: Series,
  times: readonly number[],
  values: readonly number[],
  to: number,
): Series {
  const last = series.times.at(-1) ?? Number.NEGATIVE_INFINITY
  const start = times.findIndex((time) => time > last)
  if (start < 0) return { ...series, to: Math.max(series.to, to) }
  return {
    ...series,
    to: Math.max(series.to, to),
    times: Float64Array.from([...series.times, ...times.slice(start)]),
    values: Float64Array.from([...series.values, ...values.slice(start)]),
  }
}
