import { lowerBound, makeColumns, type PointColumns, STATUS_BAD, STATUS_OK, sliceColumns } from './columns.ts'
import { isGood } from './interpolate.ts'
import type { PlotPoints } from './reads.ts'

/** A good raw point of a column that may be given. */
interface Extreme {
  time: number
  value: number
  /** When the signal first had no value after this point; NaN while it has one. */
  gap: number
}

/** What a summary of raw points must have, so that a plot takes it in place of them. */
export interface PlotSummary {
  readonly count: number
  readonly numGood: number
  readonly firstTime: number
  readonly firstGoodTime: number
  readonly first: number
  readonly lastGoodTime: number
  readonly last: number
  readonly min: number
  readonly max: number
  /** Of the earliest least and the earliest greatest good point; left out where that is not kept. */
  readonly minTime?: number
  readonly maxTime?: number
  /** The longest time from a good point to the next; left out where that is not kept. */
  readonly longestGap?: number
}

/** Where the signal ends between good points: nowhere without `maxGapUs`. */
export interface PlotGaps {
  readonly stepped: boolean
  readonly maxGapUs?: number
}

/** With fewer good points a column gives all of them, which a summary does not have. */
const FEWEST_SAMPLED = 4
/** Good points of a column and its break. */
const MOST_OF_COLUMN = 5

/**
 * Min-max decimation for charts: of each column the first, least, greatest and last good raw point at their own times,
 * all of them where there are fewer than four, and breaks: points without a value, at the first BAD point of a column
 * and where the signal ends between two points that are given. Memory is that of the answer.
 *
 * Points, summaries and gaps come in time order.
 */
export class PlotSampler {
  readonly #edges: Float64Array
  #index = 0
  #points: PointColumns
  #length = 0
  #isSampled = false

  // Of the column that is fed.
  #numGood = 0
  #numBad = 0
  #badTime = Number.NaN
  /** When the signal first had no value, before the first good point. */
  #leadingGap = Number.NaN
  readonly #first = extreme()
  readonly #second = extreme()
  readonly #least = extreme()
  readonly #greatest = extreme()
  readonly #last = extreme()
  /** Whether the signal has no value since the last point that was given, in a column before. */
  #isBroken = true

  readonly #maxGapUs: number
  readonly #stepped: boolean
  /** Of the last good point, whatever column it is in. */
  #lastGood = Number.POSITIVE_INFINITY

  /**
   * @param edges            n + 1 ascending instants for n columns [edge, next edge)
   * @param options.hasValue whether the signal has a value at the first edge, which a gap then ends
   * @param options.gaps     where it ends between points; left out for nowhere but where `addGap` says so
   */
  constructor(
    edges: Float64Array,
    { hasValue = false, gaps }: { readonly hasValue?: boolean; readonly gaps?: PlotGaps } = {},
  ) {
    this.#edges = edges
    this.#maxGapUs = gaps?.maxGapUs ?? Number.POSITIVE_INFINITY
    this.#stepped = gaps?.stepped ?? false
    this.#points = makeColumns(Math.min(1_024, MOST_OF_COLUMN * (edges.length - 1) + 1))
    this.#isBroken = !hasValue
  }

  /** The next points, ascending; those outside the columns are left out. */
  add(points: PointColumns): void {
    if (this.#maxGapUs === Number.POSITIVE_INFINITY) this.#addAll(points)
    else this.#addWithGaps(points)
  }

  #addWithGaps(points: PointColumns): void {
    const { times } = points
    let start = 0
    // Points beyond the columns end no signal in them: what lies beside the range is looked at elsewhere.
    const end = lowerBound(times, this.#edges[this.#edges.length - 1]!)
    for (let i = lowerBound(times, this.#edges[0]!); i < end; i++) {
      if (!isGood(points, i)) continue
      if (times[i]! - this.#lastGood > this.#maxGapUs) {
        // BAD points before the gap come first, those after it later.
        const gap = this.#gapAfter(this.#lastGood)
        const cut = Math.max(start, lowerBound(times, gap))
        this.#addAll(sliceColumns(points, start, cut))
        this.addGap(gap)
        start = cut
      }
      this.#lastGood = times[i]!
    }
    this.#addAll(sliceColumns(points, start, times.length))
  }

  #gapAfter(time: number): number {
    return this.#stepped ? time + this.#maxGapUs : time + 1
  }

  #addAll(points: PointColumns): void {
    const { times } = points
    const edges = this.#edges
    let at = times.length === 0 ? 0 : lowerBound(times, edges[0]!)
    while (at < times.length && this.#moveTo(times[at]!)) {
      const columnEnd = edges[this.#index + 1]!
      const end = times[times.length - 1]! < columnEnd ? times.length : lowerBound(times, columnEnd)
      this.#addRun(points, at, end)
      at = end
    }
  }

  /** The next points by their summary; false when their points are needed instead, and nothing was taken. */
  addSummary(summary: PlotSummary, lastTime: number): boolean {
    const { count, numGood, firstTime, firstGoodTime, min, max, minTime, maxTime } = summary
    if (
      firstTime < this.#edges[0]! ||
      !this.#moveTo(firstTime) ||
      lastTime >= this.#edges[this.#index + 1]!
    ) {
      return false
    }
    const hasBad = numGood < count
    if (hasBad && this.#numBad === 0 && numGood > 0 && firstGoodTime === firstTime) return false
    if (numGood > 0) {
      if (numGood < FEWEST_SAMPLED) return false
      const isLeast = this.isLeast(min)
      const isGreatest = this.isGreatest(max)
      if ((isLeast && minTime === undefined) || (isGreatest && maxTime === undefined)) return false
      const { longestGap = Number.POSITIVE_INFINITY } = summary
      // Points of BAD ones before the gap and after it are distinguished one by one.
      if (
        (this.#maxGapUs < Number.POSITIVE_INFINITY && this.#maxGapUs < longestGap) ||
        firstGoodTime - this.#lastGood > this.#maxGapUs
      )
        return false
      this.#lastGood = summary.lastGoodTime
      if (this.#numGood === 0) set(this.#first, firstGoodTime, summary.first)
      if (isLeast) set(this.#least, minTime!, min)
      if (isGreatest) set(this.#greatest, maxTime!, max)
      set(this.#last, summary.lastGoodTime, summary.last)
      this.#numGood += numGood
    }
    if (hasBad && this.#numBad === 0) this.#badTime = firstTime
    this.#numBad += count - numGood
    return true
  }

  /** The end of the column that holds the next points, from this time on; -Infinity when none does. */
  columnEnd(time: number): number {
    if (time < this.#edges[0]! || !this.#moveTo(time)) return Number.NEGATIVE_INFINITY
    return this.#edges[this.#index + 1]!
  }

  /** Whether a value would be the least of the column so far. */
  isLeast(value: number): boolean {
    return this.#numGood === 0 || value < this.#least.value
  }

  /** Whether a value would be the greatest of the column so far. */
  isGreatest(value: number): boolean {
    return this.#numGood === 0 || value > this.#greatest.value
  }

  /** The signal has no value from this instant until the next good point; later than all good points so far. */
  addGap(time: number): void {
    if (time < this.#edges[0]! || !this.#moveTo(time)) return
    if (this.#numGood === 0) {
      if (this.#isBroken || !Number.isNaN(this.#leadingGap)) return
      // Only the next good point shows a gap, and BAD ones before it may lie in later columns.
      if (time < this.#edges[this.#index]!) this.#insertBreak(time)
      else this.#leadingGap = time
      return
    }
    for (const point of [this.#first, this.#second, this.#least, this.#greatest, this.#last]) {
      if (Number.isNaN(point.gap)) point.gap = time
    }
  }

  /** The points that were chosen, ascending, once all points were fed. */
  finish(): PlotPoints {
    this.#closeColumn()
    return { points: sliceColumns(this.#points, 0, this.#length), sampled: this.#isSampled }
  }

  #addRun({ times, values, statuses }: PointColumns, start: number, end: number): void {
    let i = start
    while (this.#numGood < 2 && i < end) this.#addOne(times[i]!, values[i]!, statuses[i++]!)
    // A loop without calls: it sees every point that no summary stands for.
    let least = this.#least.value
    let greatest = this.#greatest.value
    let leastAt = -1
    let greatestAt = -1
    let lastAt = -1
    let numGood = 0
    for (; i < end; i++) {
      const value = values[i]!
      if (statuses[i] !== STATUS_OK || Number.isNaN(value)) {
        if (this.#numBad++ === 0) this.#badTime = times[i]!
        continue
      }
      numGood++
      lastAt = i
      if (value < least) {
        least = value
        leastAt = i
      }
      if (value > greatest) {
        greatest = value
        greatestAt = i
      }
    }
    this.#numGood += numGood
    if (leastAt >= 0) set(this.#least, times[leastAt]!, least)
    if (greatestAt >= 0) set(this.#greatest, times[greatestAt]!, greatest)
    if (lastAt >= 0) set(this.#last, times[lastAt]!, values[lastAt]!)
  }

  #addOne(time: number, value: number, status: number): void {
    if (status !== STATUS_OK || Number.isNaN(value)) {
      if (this.#numBad++ === 0) this.#badTime = time
      return
    }
    this.#numGood++
    this.#addEarly(time, value)
  }

  /** The first two good points of a column. */
  #addEarly(time: number, value: number): void {
    const isFirst = this.#numGood === 1
    set(isFirst ? this.#first : this.#second, time, value)
    if (isFirst || value < this.#least.value) set(this.#least, time, value)
    if (isFirst || value > this.#greatest.value) set(this.#greatest, time, value)
    set(this.#last, time, value)
  }

  /** Goes on to the column that holds an instant, at or after the first edge; false when it lies after the last. */
  #moveTo(time: number): boolean {
    const edges = this.#edges
    while (this.#index < edges.length - 1 && time >= edges[this.#index + 1]!) {
      this.#closeColumn()
      this.#index++
    }
    return this.#index < edges.length - 1
  }

  #closeColumn(): void {
    const given = this.#putColumn()
    if (this.#numGood > given || this.#numBad > 1) this.#isSampled = true
    this.#numGood = 0
    this.#numBad = 0
    this.#badTime = Number.NaN
    this.#leadingGap = Number.NaN
  }

  /** Gives the points of a column with its breaks between them; returns how many good points were given. */
  #putColumn(): number {
    let given = 0
    let before = Number.NEGATIVE_INFINITY
    let gap = this.#leadingGap
    for (const point of this.#chosen()) {
      // The least, the greatest and the last point may be the first one, or each other.
      if (point.time <= before) continue
      this.#putBreaks(gap, point.time)
      this.#put(point.time, point.value)
      before = point.time
      gap = point.gap
      given++
    }
    this.#putBreaks(gap, Number.POSITIVE_INFINITY)
    if (given > 0) this.#isBroken = false
    if (!Number.isNaN(gap)) this.#isBroken = true
    return given
  }

  /** The good points to give, ascending; some of them may be the same. */
  #chosen(): readonly Extreme[] {
    if (this.#numGood === 0) return []
    const [least, greatest] = [this.#least, this.#greatest]
    if (this.#numGood < FEWEST_SAMPLED) return [this.#first, this.#second, this.#last]
    return least.time < greatest.time
      ? [this.#first, least, greatest, this.#last]
      : [this.#first, greatest, least, this.#last]
  }

  /** Gives the breaks before an instant: that of a gap, and that of the column's first BAD point once. */
  #putBreaks(gap: number, until: number): void {
    const bad = this.#badTime < until ? this.#badTime : Number.NaN
    if (bad <= gap || Number.isNaN(gap)) this.#putBreak(bad)
    if (gap < until && gap !== bad) this.#putBreak(gap)
    if (bad > gap) this.#putBreak(bad)
    if (!Number.isNaN(bad)) this.#badTime = Number.NaN
  }

  #putBreak(time: number): void {
    if (!Number.isNaN(time)) this.#put(time, Number.NaN)
  }

  /** Puts a break before the later ones. */
  #insertBreak(time: number): void {
    this.#isBroken = true
    const { times } = this.#points
    let index = this.#length
    while (index > 0 && times[index - 1]! >= time) index--
    if (index < this.#length && times[index] === time) return
    this.#put(time, Number.NaN)
    const points = this.#points
    for (const column of [points.times, points.values, points.statuses]) {
      const last = column[this.#length - 1]!
      column.copyWithin(index + 1, index, this.#length - 1)
      column[index] = last
    }
  }

  #put(time: number, value: number): void {
    if (this.#length === this.#points.times.length) {
      const larger = makeColumns(2 * this.#length)
      larger.times.set(this.#points.times)
      larger.values.set(this.#points.values)
      larger.statuses.set(this.#points.statuses)
      this.#points = larger
    }
    const { times, values, statuses } = this.#points
    times[this.#length] = time
    values[this.#length] = value
    if (Number.isNaN(value)) statuses[this.#length] = STATUS_BAD
    this.#length++
  }
}

function extreme(): Extreme {
  return { time: Number.NEGATIVE_INFINITY, value: Number.NaN, gap: Number.NaN }
}

function set(point: Extreme, time: number, value: number): void {
  point.time = time
  point.value = value
  point.gap = Number.NaN
}
