import { type PointColumns, STATUS_OK, upperBound, upperBoundFrom } from './columns.ts'
import type { BoundingValues, SignalShape } from './reads.ts'

/** Bounding value: a good point before or after a range of points. */
export interface EdgePoint {
  readonly time: number
  readonly value: number
}

/**
 * Which value is meant where a signal switches: that at the instant, or the limit from the left, which is what the
 * signal had just before it, or from the right.
 */
export type Side = 'at' | 'before' | 'after'

/**
 * Interpolation: values of a signal at given times from their bounding values.
 * @param times  ascending instants, the times of the bounding values
 * @returns      in the tag's unit; a good raw point's own value at its time; NaN before the first good point and beyond
 *               `shape.holdUntil`, up to which (included) the last good point holds
 * @source       INTERFACE.md, section 5
 */
export function interpolate(
  boundingValues: BoundingValues,
  times: Float64Array,
  shape: SignalShape,
): Float64Array {
  const { beforeTimes, beforeValues, afterTimes, afterValues } = boundingValues
  const values = new Float64Array(times.length)
  for (let i = 0; i < times.length; i++) {
    values[i] = valueBeside(
      times[i]!,
      beforeTimes[i]!,
      beforeValues[i]!,
      afterTimes[i]!,
      afterValues[i]!,
      shape,
    )
  }
  return values
}

/**
 * Value of a signal at `at` from the last good point at or before it and the first one at or after it; the time of one
 * that does not exist is NaN. As {@link interpolate}.
 */
export function valueBeside(
  at: number,
  before: number,
  beforeValue: number,
  after: number,
  afterValue: number,
  shape: SignalShape,
): number {
  if (before === at) return beforeValue
  if (Number.isNaN(before) || isGap(at, before, after, shape)) return Number.NaN
  if (Number.isNaN(after)) return at <= shape.holdUntil ? beforeValue : Number.NaN
  return shape.stepped ? beforeValue : valueBetween(at, before, beforeValue, after, afterValue)
}

/**
 * Whether the signal has no value at a time after one good point and before the next because they are too far apart.
 * @param after  time of the next good point; NaN when there is none
 */
export function isGap(
  at: number,
  before: number,
  after: number,
  { stepped, maxGapUs }: SignalShape,
): boolean {
  if (maxGapUs === undefined || after - before <= maxGapUs) return false
  return (!stepped && !Number.isNaN(after)) || at >= before + maxGapUs
}

/**
 * Instants of [from, to) at which a signal ends although no good point stands there, ascending: where nothing good came
 * within `maxGapUs`. Not the ends of gaps of a linear signal, which ends at a good point.
 * @param times  of the good points, ascending
 * @param prev, next  the good points beside them; `null` when there is none
 */
export function signalEnds(
  times: Float64Array,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  from: number,
  to: number,
  { stepped, holdUntil, maxGapUs }: SignalShape,
): Float64Array {
  const ends: number[] = []
  if (maxGapUs === undefined) return NO_TIMES
  let last = prev?.time ?? Number.NaN
  const look = (time: number): void => {
    const end = last + maxGapUs
    if (stepped && time - last > maxGapUs && end >= from && end < to) ends.push(end)
    last = time
  }
  for (let i = 0; i < times.length; i++) look(times[i]!)
  if (next !== null) look(next.time)
  else {
    const end = last + maxGapUs
    if (end <= holdUntil && end >= from && end < to) ends.push(end)
  }
  return Float64Array.from(ends)
}

const NO_TIMES = new Float64Array(0)

/**
 * Value at `at` on the line from (time1, value1) to (time2, value2), for time1 <= at <= time2 and time1 < time2.
 * Exactly value1 and value2 at the ends, exactly their common value where they are equal, and without overflow.
 */
export function valueBetween(
  at: number,
  time1: number,
  value1: number,
  time2: number,
  value2: number,
): number {
  const rise = value2 - value1
  const length = time2 - time1
  if (!Number.isFinite(rise)) {
    return value1 * ((time2 - at) / length) + value2 * ((at - time1) / length)
  }
  // From the nearer end, so that neither end is missed by a rounding.
  return at - time1 <= time2 - at
    ? value1 + rise * ((at - time1) / length)
    : value2 - rise * ((time2 - at) / length)
}

/**
 * Values of a signal at given times from its points in memory.
 * @param points  ascending; BAD points and points without a value are left out
 * @param prev    the last good point before all of `points` and `times`; `null` when there is none
 * @param next    the first good point after all of `points`, at or after the last of `times`; `null` when there is none
 * @param times   ascending instants
 * @param side    'before' gives limits from the left: at a point of a stepped signal what was held until then, at the
 *                first good point NaN; 'after' gives limits from the right, which are no values where a linear signal
 *                has a gap behind a point, or its last value has ended
 * @returns       as {@link interpolate}
 */
export function valuesFromPoints(
  points: PointColumns,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  times: Float64Array,
  shape: SignalShape,
  side: Side,
): Float64Array {
  return valuesFromGoodPoints(goodPoints(points), prev, next, times, shape, side)
}

/** The same from points of which none is to be left out. */
export function valuesFromGoodPoints(
  { times: goodTimes, values: goodValues }: PointColumns,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  times: Float64Array,
  shape: SignalShape,
  side: Side,
): Float64Array {
  const { stepped, holdUntil, maxGapUs } = shape
  const values = new Float64Array(times.length)
  // Walking is cheaper than searching only when there are not many points for each time.
  const walk = goodTimes.length < times.length * 16
  let passed = times.length === 0 ? 0 : upperBound(goodTimes, side === 'before' ? times[0]! - 1 : times[0]!)
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    // Instants are whole, so "before at" is "not after at - 1".
    const last = side === 'before' ? at - 1 : at
    if (walk) while (passed < goodTimes.length && goodTimes[passed]! <= last) passed++
    else passed = upperBoundFrom(goodTimes, last, passed)
    let time1: number
    let value1: number
    if (passed === goodTimes.length && next !== null && next.time <= last) {
      time1 = next.time
      value1 = next.value
    } else if (passed > 0) {
      time1 = goodTimes[passed - 1]!
      value1 = goodValues[passed - 1]!
    } else if (prev !== null && prev.time <= last) {
      time1 = prev.time
      value1 = prev.value
    } else {
      values[i] = Number.NaN
      continue
    }
    if (maxGapUs !== undefined && (time1 < at || side === 'after')) {
      const isBeyond = next !== null && time1 === next.time
      const time2 = isBeyond ? Number.NaN : (goodTimes[passed] ?? next?.time ?? Number.NaN)
      if (isGap(last, time1, time2, shape)) {
        values[i] = Number.NaN
        continue
      }
    }
    const isLast = passed === goodTimes.length && next === null
    if (isLast && side === 'after' && at >= holdUntil) values[i] = Number.NaN
    else if (time1 === at) values[i] = value1
    else if (passed < goodTimes.length) {
      values[i] = stepped ? value1 : valueBetween(at, time1, value1, goodTimes[passed]!, goodValues[passed]!)
    } else if (next !== null) {
      values[i] = stepped ? value1 : valueBetween(at, time1, value1, next.time, next.value)
    } else values[i] = at <= holdUntil ? value1 : Number.NaN
  }
  return values
}

/** The points that are not BAD and have a value; the same arrays when that is all of them. */
export function goodPoints(points: PointColumns): PointColumns {
  const { times, values, statuses } = points
  let good = 0
  for (let i = 0; i < times.length; i++) if (isGood(points, i)) good++
  if (good === times.length) return points
  const kept = {
    times: new Float64Array(good),
    values: new Float64Array(good),
    statuses: new Uint8Array(good),
  }
  let at = 0
  for (let i = 0; i < times.length; i++) {
    if (!isGood(points, i)) continue
    kept.times[at] = times[i]!
    kept.values[at] = values[i]!
    kept.statuses[at] = statuses[i]!
    at++
  }
  return kept
}

/** Whether the point with this index is not BAD and has a value. */
export function isGood(points: PointColumns, index: number): boolean {
  const value = points.values[index]!
  return points.statuses[index] === STATUS_OK && !Number.isNaN(value)
}
