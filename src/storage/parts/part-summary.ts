import { type PointColumns, STATUS_OK } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { joinZoneMaps, writeZoneMap, ZONE_MAP_BYTES, zoneMapOf } from '../blocks/zone-map.ts'

/**
 * What is kept of the points of a block. A good point is one that is not BAD and has a value; where there is none,
 * times and values are NaN and the rest is 0. Durations are microseconds between the first and the last point.
 */
export type PartSummary = ZoneMap & Extras

/** What a part keeps beyond a zone map: all that it may have. */
export type Extras = Required<Pick<ZoneMap, (typeof EXTRAS)[number]>>

const EXTRAS = [
  'minTime',
  'maxTime',
  'increase',
  'goodTime',
  'transitions',
  'longestGap',
  'nonZeroTime',
  'zeroTime',
] as const satisfies readonly (keyof ZoneMap)[]

/** A summary as doubles: number of them, 16 of zone-map.ts and EXTRAS. */
export const SUMMARY_DOUBLES = (ZONE_MAP_BYTES >> 3) + EXTRAS.length

/** Summary of the points with index from start (included) to end (excluded), at least one. */
export function summaryOf(points: PointColumns, start: number, end: number): PartSummary {
  const zoneMap = zoneMapOf(points, start, end)
  return { ...zoneMap, ...extrasOf(points, start, end, zoneMap) }
}

/**
 * What the points with index from start (included) to end (excluded) have beyond their zone map.
 * @param zoneMap  of these points
 */
export function extrasOf(points: PointColumns, start: number, end: number, zoneMap: ZoneMap): Extras {
  const { numGood, count, min, max } = zoneMap
  // Nearly all blocks are like that, and this is the cost of packing them.
  if (numGood === count && (min > 0 || max < 0)) return extrasOfNonZero(points, start, end, zoneMap)
  return extrasOfAny(points, start, end)
}

/** The same for points that are all good and not zero. */
function extrasOfNonZero(
  { times, values }: PointColumns,
  start: number,
  end: number,
  { min, max, firstTime, lastTime }: ZoneMap,
): Extras {
  let increase = 0
  let longestGap = 0
  let time = times[start]!
  let value = values[start]!
  for (let i = start + 1; i < end; i++) {
    const nextTime = times[i]!
    const next = values[i]!
    const step = nextTime - time
    if (step > longestGap) longestGap = step
    increase += next >= value ? next - value : next
    time = nextTime
    value = next
  }
  const span = lastTime - firstTime
  return {
    minTime: times[firstIndexOf(values, start, end, min)]!,
    maxTime: times[firstIndexOf(values, start, end, max)]!,
    increase,
    goodTime: span,
    transitions: 0,
    longestGap,
    nonZeroTime: span,
    zeroTime: 0,
  }
}

/** Of a value that there is. */
function firstIndexOf(values: Float64Array, start: number, end: number, value: number): number {
  let index = start
  while (index < end - 1 && values[index] !== value) index++
  return index
}

function extrasOfAny({ times, values, statuses }: PointColumns, start: number, end: number): Extras {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let minTime = Number.NaN
  let maxTime = Number.NaN
  let increase = 0
  let goodTime = 0
  let transitions = 0
  let longestGap = 0
  let nonZeroTime = 0
  let zeroTime = 0
  let time = Number.NaN
  let value = 0
  let wasGood = false
  for (let i = start; i < end; i++) {
    const nextTime = times[i]!
    if (wasGood) goodTime += nextTime - times[i - 1]!
    const next = values[i]!
    wasGood = statuses[i] === STATUS_OK && !Number.isNaN(next)
    if (!wasGood) continue
    if (next < min) {
      min = next
      minTime = nextTime
    }
    if (next > max) {
      max = next
      maxTime = nextTime
    }
    if (!Number.isNaN(time)) {
      const step = nextTime - time
      increase += riseOf(value, next)
      if (step > longestGap) longestGap = step
      if ((value === 0) !== (next === 0)) transitions++
      if (value !== 0) nonZeroTime += step
      else if (next === 0) zeroTime += step
    }
    time = nextTime
    value = next
  }
  return { minTime, maxTime, increase, goodTime, transitions, longestGap, nonZeroTime, zeroTime }
}

function riseOf(from: number, to: number): number {
  return to >= from ? to - from : to
}

/** Summary of points that follow each other, at least one summary. */
export function joinSummaries(summaries: readonly PartSummary[]): PartSummary {
  let { increase, goodTime, transitions, longestGap, nonZeroTime, zeroTime } = summaries[0]!
  /** The last one before that has good points. */
  let good = summaries[0]!
  for (let i = 1; i < summaries.length; i++) {
    const next = summaries[i]!
    const before = summaries[i - 1]!
    goodTime += next.goodTime
    if (before.lastGoodTime === before.lastTime) goodTime += next.firstTime - before.lastTime
    if (next.numGood === 0) continue
    increase += next.increase
    transitions += next.transitions
    longestGap = Math.max(longestGap, next.longestGap)
    nonZeroTime += next.nonZeroTime
    zeroTime += next.zeroTime
    if (good.numGood > 0) {
      const step = next.firstGoodTime - good.lastGoodTime
      increase += riseOf(good.last, next.first)
      longestGap = Math.max(longestGap, step)
      if ((good.last === 0) !== (next.first === 0)) transitions++
      if (good.last !== 0) nonZeroTime += step
      else if (next.first === 0) zeroTime += step
    }
    good = next
  }
  const whole = joinZoneMaps(summaries)
  // The earliest of those that have the least and the greatest value.
  const least = summaries.find(({ numGood, min }) => numGood > 0 && min === whole.min)
  const greatest = summaries.find(({ numGood, max }) => numGood > 0 && max === whole.max)
  const minTime = least?.minTime ?? Number.NaN
  const maxTime = greatest?.maxTime ?? Number.NaN
  return {
    ...whole,
    minTime,
    maxTime,
    increase,
    goodTime,
    transitions,
    longestGap,
    nonZeroTime,
    zeroTime,
  }
}

export function writeSummary(target: Float64Array, at: number, summary: PartSummary): void {
  writeZoneMap(target, at, summary)
  EXTRAS.forEach((key, i) => {
    target[at + (ZONE_MAP_BYTES >> 3) + i] = summary[key]
  })
}

export function readSummary(source: Float64Array, at: number): PartSummary {
  return new StoredSummary(source, at)
}

/**
 * A summary where it stands in a page, in the order of `writeSummary`: a read of a year goes through thousands, of
 * which it takes a few fields.
 */
class StoredSummary implements PartSummary {
  readonly #doubles: Float64Array
  readonly #at: number

  constructor(doubles: Float64Array, at: number) {
    this.#doubles = doubles
    this.#at = at
  }

  get count(): number {
    return this.#doubles[this.#at]!
  }

  get numGood(): number {
    return this.#doubles[this.#at + 1]!
  }

  get firstTime(): number {
    return this.#doubles[this.#at + 2]!
  }

  get lastTime(): number {
    return this.#doubles[this.#at + 3]!
  }

  get sum(): number {
    return this.#doubles[this.#at + 4]!
  }

  get mean(): number {
    return this.#doubles[this.#at + 5]!
  }

  get squares(): number {
    return this.#doubles[this.#at + 6]!
  }

  get min(): number {
    return this.#doubles[this.#at + 7]!
  }

  get max(): number {
    return this.#doubles[this.#at + 8]!
  }

  get firstGoodTime(): number {
    return this.#doubles[this.#at + 9]!
  }

  get first(): number {
    return this.#doubles[this.#at + 10]!
  }

  get lastGoodTime(): number {
    return this.#doubles[this.#at + 11]!
  }

  get last(): number {
    return this.#doubles[this.#at + 12]!
  }

  get linear(): number {
    return this.#doubles[this.#at + 13]!
  }

  get stepped(): number {
    return this.#doubles[this.#at + 14]!
  }

  get meanRest(): number {
    return this.#doubles[this.#at + 15]!
  }

  get minTime(): number {
    return this.#doubles[this.#at + 16]!
  }

  get maxTime(): number {
    return this.#doubles[this.#at + 17]!
  }

  get increase(): number {
    return this.#doubles[this.#at + 18]!
  }

  get goodTime(): number {
    return this.#doubles[this.#at + 19]!
  }

  get transitions(): number {
    return this.#doubles[this.#at + 20]!
  }

  get longestGap(): number {
    return this.#doubles[this.#at + 21]!
  }

  get nonZeroTime(): number {
    return this.#doubles[this.#at + 22]!
  }

  get zeroTime(): number {
    return this.#doubles[this.#at + 23]!
  }
}
