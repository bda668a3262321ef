import { type PointColumns, STATUS_OK } from '../../series/columns.ts'
import { Moments } from '../../series/moments.ts'
import { type Summary, summarize } from '../../series/summary.ts'
import type { ZoneMap } from '../../series/zone-map.ts'

/** Bytes of a zone map as doubles. */
export const ZONE_MAP_BYTES = 128

/** Summary of the points with index from start (included) to end (excluded), at least one. */
export function zoneMapOf(points: PointColumns, start: number, end: number): ZoneMap {
  return withSignal(summarize(points, start, end), points, start, end)
}

/** The summary of points and what their signal adds to it. */
export function withSignal(summary: Summary, points: PointColumns, start: number, end: number): ZoneMap {
  const { times, values, statuses } = points
  let firstGoodTime = Number.NaN
  let time = Number.NaN
  let value = 0
  let linear = 0
  let stepped = 0
  for (let i = start; i < end; i++) {
    const next = values[i]!
    if (statuses[i] !== STATUS_OK || Number.isNaN(next)) continue
    const nextTime = times[i]!
    if (!Number.isNaN(time)) {
      const step = nextTime - time
      linear += step * (value / 2 + next / 2)
      stepped += step * value
    } else firstGoodTime = nextTime
    time = nextTime
    value = next
  }
  return {
    ...summary,
    firstTime: times[start]!,
    lastTime: times[end - 1]!,
    firstGoodTime,
    lastGoodTime: time,
    linear,
    stepped,
  }
}

/** Zone map of runs of points that follow each other, at least one. */
export function joinZoneMaps(zoneMaps: readonly ZoneMap[]): ZoneMap {
  const whole = new Moments()
  let firstGoodTime = Number.NaN
  let time = Number.NaN
  let value = 0
  let linear = 0
  let stepped = 0
  for (const zoneMap of zoneMaps) {
    whole.merge(zoneMap)
    if (zoneMap.numGood === 0) continue
    if (!Number.isNaN(time)) {
      const step = zoneMap.firstGoodTime - time
      linear += step * (value / 2 + zoneMap.first / 2)
      stepped += step * value
    } else firstGoodTime = zoneMap.firstGoodTime
    linear += zoneMap.linear
    stepped += zoneMap.stepped
    time = zoneMap.lastGoodTime
    value = zoneMap.last
  }
  return {
    ...whole.summary(),
    firstTime: zoneMaps[0]!.firstTime,
    lastTime: zoneMaps.at(-1)!.lastTime,
    firstGoodTime,
    lastGoodTime: time,
    linear,
    stepped,
  }
}

/**
 * Whether sums and integrals stayed within the range of doubles. Otherwise a summary says less than its points, which
 * are then read.
 */
export function isUsable({ sum, mean, squares, linear, stepped, numGood }: ZoneMap): boolean {
  return Number.isFinite(sum + squares + linear + stepped) && (numGood === 0 || Number.isFinite(mean))
}

export function writeZoneMap(target: Float64Array, at: number, zoneMap: ZoneMap): void {
  target[at] = zoneMap.count
  target[at + 1] = zoneMap.numGood
  target[at + 2] = zoneMap.firstTime
  target[at + 3] = zoneMap.lastTime
  target[at + 4] = zoneMap.sum
  target[at + 5] = zoneMap.mean
  target[at + 6] = zoneMap.squares
  target[at + 7] = zoneMap.min
  target[at + 8] = zoneMap.max
  target[at + 9] = zoneMap.firstGoodTime
  target[at + 10] = zoneMap.first
  target[at + 11] = zoneMap.lastGoodTime
  target[at + 12] = zoneMap.last
  target[at + 13] = zoneMap.linear
  target[at + 14] = zoneMap.stepped
  target[at + 15] = zoneMap.meanRest
}

export function readZoneMap(source: Float64Array, at: number): ZoneMap {
  return {
    count: source[at]!,
    numGood: source[at + 1]!,
    firstTime: source[at + 2]!,
    lastTime: source[at + 3]!,
    sum: source[at + 4]!,
    mean: source[at + 5]!,
    meanRest: source[at + 15]!,
    squares: source[at + 6]!,
    min: source[at + 7]!,
    max: source[at + 8]!,
    firstGoodTime: source[at + 9]!,
    first: source[at + 10]!,
    lastGoodTime: source[at + 11]!,
    last: source[at + 12]!,
    linear: source[at + 13]!,
    stepped: source[at + 14]!,
  }
}
