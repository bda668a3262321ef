import { copyColumns, makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { countDeciding, decidingPoints } from '../../series/deciding-points.ts'
import type { Comparisons, RangeResult } from '../../series/reads.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks, ZoneMapSink } from './point-blocks.ts'

/**
 * Points of [from, to), ascending, at most `limit`, that compare with each threshold as all points do at all times: a
 * run of points whose values lie on one side of them, without a BAD point and without a gap, is its first and last
 * point, and points between these as close as `maxGapUs`. Reads the blocks alone that a threshold lies within.
 */
export async function readCompared(
  blocks: PointBlocks,
  range: { readonly from: number; readonly to: number; readonly limit: number },
  compared: Comparisons,
  pace: ReadPace,
): Promise<RangeResult> {
  const sink = new ComparedSink(compared, range.limit)
  await blocks.eachZoneMap(range.from, range.to, pace, sink)
  return { points: sink.points(), more: sink.isDone() }
}

/**
 * How many points `readCompared` gives of a range at most, also in pages of two points and more; counting stops at
 * `cap` or above. No points are unpacked.
 */
export async function countCompared(
  blocks: PointBlocks,
  from: number,
  to: number,
  compared: Comparisons,
  cap: number,
  pace: ReadPace,
): Promise<number> {
  let count = 0
  await blocks.eachZoneMap(from, to, pace, {
    takeZoneMap(zoneMap) {
      const given = pointsOfDecided(zoneMap, compared)
      // What is no larger than a chunk is not looked into any further.
      if (given === null && zoneMap.count > SMALL_ZONE) return false
      count += given ?? zoneMap.count
      return true
    },
    takePoints(points) {
      // Each page begins with a point of its own.
      count += Math.min(points.times.length, 2 * countDeciding(points, compared))
    },
    isDone: () => count >= cap,
  })
  return count
}

/** Points of a chunk at most. */
const SMALL_ZONE = 1_024

/** How many points stand for a run that all comparisons are decided for; `null` where one is not. */
function pointsOfDecided(zoneMap: ZoneMap, { thresholds, maxGapUs }: Comparisons): number | null {
  const { count, numGood, min, max, firstGoodTime, lastGoodTime, longestGap } = zoneMap
  if (numGood < count) return null
  // Equal values compare alike, also with a threshold that they are.
  const isDecided = min === max || thresholds.every((threshold) => threshold < min || threshold > max)
  if (!isDecided) return null
  const length = lastGoodTime - firstGoodTime
  if (length === 0) return 1
  if (maxGapUs === undefined || length <= maxGapUs) return 2
  if (longestGap === undefined || longestGap > maxGapUs) return null
  const given = 1 + Math.ceil(length / maxGapUs)
  return given < count ? given : null
}

class ComparedSink implements ZoneMapSink {
  readonly #compared: Comparisons
  readonly #limit: number
  #points = makeColumns(256)
  #length = 0
  #isFull = false

  constructor(compared: Comparisons, limit: number) {
    this.#compared = compared
    this.#limit = limit
  }

  takeZoneMap(zoneMap: ZoneMap): boolean {
    if (this.#isFull) return true
    const count = pointsOfDecided(zoneMap, this.#compared)
    if (count === null || count > this.#limit) return false
    if (this.#length + count > this.#limit) {
      this.#isFull = true
      return true
    }
    this.#reserve(count)
    const { times, values } = this.#points
    const { firstGoodTime, lastGoodTime, first, last } = zoneMap
    const step = this.#compared.maxGapUs ?? 0
    for (let i = 0; i < count; i++) {
      const isLast = i === count - 1
      times[this.#length] = isLast ? lastGoodTime : firstGoodTime + i * step
      values[this.#length++] = isLast ? last : first
    }
    return true
  }

  /** Of a block that the range cuts, too: a part of a range is never more points than are counted of all of it. */
  takePoints(points: PointColumns): void {
    if (this.#isFull) return
    const deciding = decidingPoints(points, this.#compared)
    const { length } = deciding.times
    const count = Math.min(length, this.#limit - this.#length)
    this.#isFull = count < length
    this.#reserve(count)
    copyColumns(this.#points, this.#length, deciding, 0, count)
    this.#length += count
  }

  isDone(): boolean {
    return this.#isFull
  }

  points(): PointColumns {
    const { times, values, statuses } = sliceColumns(this.#points, 0, this.#length)
    // Little in a lot of memory would keep all of it.
    return { times: times.slice(), values: values.slice(), statuses: statuses.slice() }
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#points.times.length) return
    const larger = makeColumns(Math.max(needed, 2 * this.#points.times.length))
    larger.times.set(this.#points.times)
    larger.values.set(this.#points.values)
    larger.statuses.set(this.#points.statuses)
    this.#points = larger
  }
}
