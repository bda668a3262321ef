import { type PointColumns, STATUS_OK, upperBound } from './columns.ts'
import type { Neighbours, SignalShape } from './reads.ts'

/** A good point beside a stretch of points. */
export interface EdgePoint {
  readonly time: number
  readonly value: number
}

/**
 * Which value is meant where a signal switches: that at the instant, or the limit from the left, which is what the
 * signal had just before it.
 */
export type Side = 'at' | 'before'

/**
 * Values of a signal at given times from their neighbours.
 * @param times  ascending instants, those that the neighbours were asked for
 * @returns      in the tag's unit; a good raw point's own value at its time; NaN before the first good point and beyond
 *               `shape.holdUntil`, up to which (included) the last good point holds
 * @source       INTERFACE.md, section 5
 */
export function interpolate(neighbours: Neighbours, times: Float64Array, shape: SignalShape): Float64Array {
  const { beforeTimes, beforeValues, afterTimes, afterValues } = neighbours
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
 * Value of a signal at `at` from the last good point at or before it and the first one at or after it; the time of one that does
 * not exist is NaN. As {@link interpolate}.
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
  if (Number.isNaN(before)) return Number.NaN
  if (Number.isNaN(after)) return at <= shape.holdUntil ? beforeValue : Number.NaN
  return shape.stepped ? beforeValue : valueBetween(at, before, beforeValue, after, afterValue)
}

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
 *                first good point NaN
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
  const { times: goodTimes, values: goodValues } = goodPoints(points)
  const { stepped, holdUntil } = shape
  const values = new Float64Array(times.length)
  // Walking is cheaper than searching only when there are not many points for each time.
  const walk = goodTimes.length < times.length * 16
  let passed = times.length === 0 ? 0 : upperBound(goodTimes, side === 'at' ? times[0]! : times[0]! - 1)
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    // Instants are whole, so "before at" is "not after at - 1".
    const last = side === 'at' ? at : at - 1
    if (walk) while (passed < goodTimes.length && goodTimes[passed]! <= last) passed++
    else passed = upperBound(goodTimes, last)
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
    if (time1 === at) values[i] = value1
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
