import { type PointColumns, STATUS_OK, upperBound } from './columns.ts'
import { isGood } from './interpolate.ts'
import type { SignalShape } from './reads.ts'
import { coveredTimeOf, type ZoneMap, zeroTimeOf } from './zone-map.ts'

/** Takes the segments of a signal in their order, and runs of them by what they add up to. */
export interface SignalTarget {
  /** Whether the time in which the signal is zero is wanted. */
  readonly takesZero: boolean
  /**
   * A linear segment from `value1` at `time1` to `value2`, its limit from the left, at `time2`.
   * Segments come in ascending order and do not overlap; where there is none the signal has no value.
   */
  segment(time1: number, value1: number, time2: number, value2: number): void
  /** Whether all segments from one time to another may come as one: then `segmentSum` takes them. */
  takes(time1: number, time2: number): boolean
  /** The latest time that `takes` says yes to from `time1` on; at or after it. */
  reachFrom(time1: number): number
  /**
   * Segments by their integral, and the microseconds in which the signal is zero and in which it has a value; only
   * after `takes` said yes to their times.
   */
  segmentSum(time1: number, time2: number, integral: number, zeroUs: number, coveredUs: number): void
}

/** Good points that follow each other by what the segments between them add up to, for one shape. */
export interface SegmentSums {
  readonly firstTime: number
  readonly first: number
  readonly lastTime: number
  readonly last: number
  /** In the signal's unit times microseconds. */
  readonly integral: number
  /** Microseconds in which the signal is zero. */
  readonly zeroUs: number
  /** Microseconds between points that are too far apart in which the signal has no value. */
  readonly gapUs: number
}

/**
 * Makes the segments of a tag's signal of its points, page by page.
 *
 * Feed, in ascending order: the last good point at or before the start of what is wanted (if there is one), all points
 * between, and the first good point at or after its end (if there is one); then `end`. Feeding more on either side
 * changes nothing. Without a point after the end, the last good point holds until `shape.holdUntil`.
 */
export class SignalFeeder {
  protected readonly shape: SignalShape
  /** Of the last good point; NaN before the first. */
  protected time = Number.NaN
  protected value = Number.NaN
  readonly #target: SignalTarget
  readonly #maxGapUs: number
  readonly #isPlain: boolean
  /**
   * Run of segments that come as one term and go on from page to page, so that the last digits do not depend on the
   * length of pages: where it began, how far it may reach, and what it adds up to.
   */
  #isRunOpen = false
  #runFrom = 0
  #runReach = 0
  #sum = 0
  #lost = 0
  #zeroUs = 0

  constructor(target: SignalTarget, shape: SignalShape) {
    this.#target = target
    this.shape = shape
    this.#maxGapUs = shape.maxGapUs ?? Number.POSITIVE_INFINITY
    this.#isPlain = shape.maxGapUs === undefined && !target.takesZero
  }

  /** The next page of points; BAD ones are left out. */
  add(points: PointColumns): void {
    const { times } = points
    const { length } = times
    if (length === 0) return
    for (
      let i = this.#isRunOpen ? this.#goOn(points, 0, this.#runFrom, this.#runReach) : 0;
      i < length;
      i++
    ) {
      if (!isGood(points, i)) continue
      this.addPoint(times[i]!, points.values[i]!)
      // All that follows within reach is one term of a sum.
      i = this.#goOn(points, i + 1, times[i]!, this.#target.reachFrom(times[i]!)) - 1
    }
  }

  /** Adds the points from an index on to the run, as far as it reaches. @returns the index of those behind it */
  #goOn(points: PointColumns, start: number, from: number, reach: number): number {
    const { times } = points
    const { length } = times
    const end = times[length - 1]! <= reach ? length : Math.max(start, upperBound(times, reach))
    if (this.#isPlain) this.#addPlainRun(points, start, end, from)
    else this.#addAnyRun(points, start, end, from)
    if (this.#isRunOpen) this.#runReach = reach
    return end
  }

  #endRun(): void {
    if (!this.#isRunOpen) return
    this.#isRunOpen = false
    this.#addSum(this.#runFrom, this.time, this.#sum, this.#lost, this.#zeroUs)
  }

  /** For signals without gaps whose time at zero nobody wants: two comparisons less for each point. */
  #addPlainRun({ times, values, statuses }: PointColumns, start: number, end: number, from: number): void {
    const { stepped } = this.shape
    let { time, value } = this
    let sum = this.#isRunOpen ? this.#sum : 0
    let lost = this.#isRunOpen ? this.#lost : 0
    for (let i = start; i < end; i++) {
      const nextTime = times[i]!
      const nextValue = values[i]!
      if (statuses[i] !== STATUS_OK || Number.isNaN(nextValue)) continue
      const term = (nextTime - time) * (stepped ? value : value / 2 + nextValue / 2)
      const next = sum + term
      if (Math.abs(sum) >= Math.abs(term)) lost += sum - next + term
      else lost += term - next + sum
      sum = next
      time = nextTime
      value = nextValue
    }
    this.time = time
    this.value = value
    this.#isRunOpen = end === times.length
    if (this.#isRunOpen) this.#keepRun(from, sum, lost, 0)
    else this.#addSum(from, time, sum, lost, 0)
  }

  #addAnyRun({ times, values, statuses }: PointColumns, start: number, end: number, from: number): void {
    const { stepped } = this.shape
    const maxGapUs = this.#maxGapUs
    let { time, value } = this
    let begin = from
    let sum = this.#isRunOpen ? this.#sum : 0
    let lost = this.#isRunOpen ? this.#lost : 0
    let zeroUs = this.#isRunOpen ? this.#zeroUs : 0
    this.#isRunOpen = false
    for (let i = start; i < end; i++) {
      const nextTime = times[i]!
      const nextValue = values[i]!
      if (statuses[i] !== STATUS_OK || Number.isNaN(nextValue)) continue
      if (nextTime - time > maxGapUs) {
        this.#addSum(begin, time, sum, lost, zeroUs)
        this.time = time
        this.value = value
        this.addPoint(nextTime, nextValue)
        begin = nextTime
        time = nextTime
        value = nextValue
        sum = 0
        lost = 0
        zeroUs = 0
        continue
      }
      const step = nextTime - time
      const term = step * (stepped ? value : value / 2 + nextValue / 2)
      if (value === 0 && (stepped || nextValue === 0)) zeroUs += step
      const next = sum + term
      if (Math.abs(sum) >= Math.abs(term)) lost += sum - next + term
      else lost += term - next + sum
      sum = next
      time = nextTime
      value = nextValue
    }
    this.time = time
    this.value = value
    this.#isRunOpen = end === times.length
    if (this.#isRunOpen) this.#keepRun(begin, sum, lost, zeroUs)
    else this.#addSum(begin, time, sum, lost, zeroUs)
  }

  #keepRun(from: number, sum: number, lost: number, zeroUs: number): void {
    this.#runFrom = from
    this.#sum = sum
    this.#lost = lost
    this.#zeroUs = zeroUs
  }

  /** Segments without a gap between them, by a compensated sum of their integrals. */
  #addSum(from: number, to: number, sum: number, lost: number, zeroUs: number): void {
    if (to > from)
      this.#target.segmentSum(from, to, Number.isFinite(sum) ? sum + lost : sum, zeroUs, to - from)
  }

  /** The next good point. */
  addPoint(time: number, value: number): void {
    this.#endRun()
    const last = this.time
    if (last < time) {
      const { stepped } = this.shape
      if (time - last <= this.#maxGapUs) {
        this.#target.segment(last, this.value, time, stepped ? this.value : value)
      } else if (stepped) this.#target.segment(last, this.value, last + this.#maxGapUs, this.value)
    }
    this.time = time
    this.value = value
  }

  /**
   * Whether the next points can be added by their summary: no two of them are too far apart unless it was made for
   * that, and it says enough.
   */
  takesZoneMap(zoneMap: ZoneMap): boolean {
    const { numGood, firstGoodTime, lastGoodTime, longestGap = Number.POSITIVE_INFINITY } = zoneMap
    if (numGood === 0) return true
    const hasGaps = this.#maxGapUs < Number.POSITIVE_INFINITY && longestGap > this.#maxGapUs
    if (hasGaps && zoneMap.maxGapUs !== this.#maxGapUs) return false
    if (!this.#target.takes(firstGoodTime, lastGoodTime)) return false
    return !this.#target.takesZero || zeroTimeOf(zoneMap, this.shape.stepped) !== undefined
  }

  /** The next points by their summary; false when they must be fed, and nothing was added. */
  addZoneMap(zoneMap: ZoneMap): boolean {
    if (!this.takesZoneMap(zoneMap)) return false
    if (zoneMap.numGood === 0) return true
    const { firstGoodTime, lastGoodTime, linear, stepped } = zoneMap
    const isStepped = this.shape.stepped
    this.addPoint(firstGoodTime, zoneMap.first)
    const zeroUs = this.#target.takesZero ? zeroTimeOf(zoneMap, isStepped)! : 0
    const coveredUs = coveredTimeOf(zoneMap, isStepped)
    this.#target.segmentSum(firstGoodTime, lastGoodTime, isStepped ? stepped : linear, zeroUs, coveredUs)
    this.time = lastGoodTime
    this.value = zoneMap.last
    return true
  }

  /** The next points by their sums; the target must take segments from the first to the last of them as one. */
  addSums({ firstTime, first, lastTime, last, integral, zeroUs, gapUs }: SegmentSums): void {
    this.addPoint(firstTime, first)
    const coveredUs = lastTime - firstTime - gapUs
    if (lastTime > firstTime) this.#target.segmentSum(firstTime, lastTime, integral, zeroUs, coveredUs)
    this.time = lastTime
    this.value = last
  }

  /** Ends the signal where the last value ends; once all points were fed. */
  protected end(): void {
    this.#endRun()
    const end = Math.min(this.shape.holdUntil, this.time + this.#maxGapUs)
    if (this.time < end) this.#target.segment(this.time, this.value, end, this.value)
  }
}
