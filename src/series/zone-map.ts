import type { Summary } from './summary.ts'

/** Summary of a range of points, from which all of it is integrated. */
export interface GoodZone {
  /** Good points; the other fields are of no meaning when there is none. */
  readonly numGood: number
  readonly firstGoodTime: number
  readonly lastGoodTime: number
  /** Values of the first and the last good point. */
  readonly first: number
  readonly last: number
  /** Integrals of the linear and of the stepped signal between them, in the tag's unit times microseconds. */
  readonly linear: number
  readonly stepped: number
}

/**
 * Summary of points that follow each other, for aggregates that take more of them than counts and moments. Times are
 * NaN where there is no such point; durations are microseconds between the first and the last point. What is left out
 * was not kept, and may follow from the rest.
 */
export interface ZoneMap extends Summary, GoodZone {
  /** Of all points, BAD ones too. */
  readonly firstTime: number
  readonly lastTime: number
  /** When the earliest least and the earliest greatest good point was. */
  readonly minTime?: number
  readonly maxTime?: number
  /** The longest time from a good point to the next, or a bound of it. */
  readonly longestGap?: number
  /** Sum of the rises from each good point to the next one, where a fall counts as a restart at 0. */
  readonly increase?: number
  /** From good points to the next point of any status. */
  readonly goodTime?: number
  /** Changes between zero and not zero from a good point to the next. */
  readonly transitions?: number
  /** Between good points: as a stepped signal not zero, and as a linear one zero throughout. */
  readonly nonZeroTime?: number
  readonly zeroTime?: number
  /**
   * How long a good point was taken to be good for, left out for no limit: integrals and times of zero are then of the
   * parts that have a value, and these are so long as a linear and as a stepped signal.
   */
  readonly maxGapUs?: number
  readonly linearTime?: number
  readonly steppedTime?: number
}

/** Whether a summary shows that no good point, nor the line between two of them, is zero. */
function isNeverZero({ min, max }: ZoneMap): boolean {
  return min > 0 || max < 0
}

/** Microseconds from good points to the next point of any status; `undefined` where the points must be read. */
export function goodTimeOf(summary: ZoneMap): number | undefined {
  const { goodTime, numGood, count, firstTime, lastTime } = summary
  if (goodTime !== undefined) return goodTime
  if (numGood === count) return lastTime - firstTime
  return numGood === 0 ? 0 : undefined
}

/** Changes between zero and not zero; `undefined` where the points must be read. */
export function transitionsOf(summary: ZoneMap): number | undefined {
  const { transitions, numGood, min, max } = summary
  if (transitions !== undefined) return transitions
  return numGood < 2 || min === max || isNeverZero(summary) ? 0 : undefined
}

/** Sum of the rises; `undefined` where the points must be read. */
export function increaseOfZoneMap({ increase, numGood, min, max }: ZoneMap): number | undefined {
  // A sum that left the range of doubles may have done so in another order.
  if (increase !== undefined) return Number.isFinite(increase) ? increase : undefined
  return numGood < 2 || min === max ? 0 : undefined
}

/** Microseconds between the first and the last good point in which the signal has a value. */
export function coveredTimeOf(summary: ZoneMap, stepped: boolean): number {
  const { firstGoodTime, lastGoodTime, linearTime, steppedTime } = summary
  return (stepped ? steppedTime : linearTime) ?? lastGoodTime - firstGoodTime
}

/** Microseconds between the first and the last good point in which the signal is zero; `undefined` as above. */
export function zeroTimeOf(summary: ZoneMap, stepped: boolean): number | undefined {
  const { numGood, min, max, nonZeroTime, zeroTime } = summary
  if (numGood < 2 || isNeverZero(summary)) return 0
  const length = coveredTimeOf(summary, stepped)
  if (min === max) return length
  if (!stepped) return zeroTime
  return nonZeroTime === undefined ? undefined : length - nonZeroTime
}
