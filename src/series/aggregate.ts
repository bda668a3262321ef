import { TidemarkError } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from './aggregate-names.ts'
import { lowerBound, type PointColumns, STATUS_OK } from './columns.ts'
import { CompensatedSum } from './sum.ts'

/** What can be kept of a stretch of points to compute every aggregate but the median and timeAvg of longer ones. */
export interface Summary {
  /** All points, BAD ones too. */
  readonly count: number
  /** Good points; the fields below are over these, and NaN or 0 (sum, squares) when there is none. */
  readonly numGood: number
  readonly sum: number
  readonly mean: number
  /**
   * What rounding took from the mean: `mean + meanRest` has the digits of two doubles. Without it the variance of values such as
   * 1,000,000 ± 0.01 loses half of its digits when summaries are merged.
   */
  readonly meanRest: number
  /** Sum of the squared differences from the mean. */
  readonly squares: number
  readonly min: number
  readonly max: number
  readonly first: number
  readonly last: number
}

/** Points are summed up in blocks of this many, and blocks merged: few divisions, and errors grow with the blocks only. */
const BLOCK_POINTS = 4096

/**
 * Summary of the points with index from start (included) to end (excluded).
 * @param points  ascending; points without a value count as BAD
 */
export function summarize(points: PointColumns, start = 0, end = points.times.length): Summary {
  const { values, statuses } = points
  // Neumaier's compensation, as in CompensatedSum, in place: these loops see every point that is read or stored.
  let sum = 0
  let lost = 0
  let numGood = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let first = Number.NaN
  let last = Number.NaN
  for (let i = start; i < end; i++) {
    const value = values[i]!
    if (statuses[i] !== STATUS_OK || Number.isNaN(value)) continue
    if (numGood === 0) first = value
    last = value
    if (value < min) min = value
    if (value > max) max = value
    const next = sum + value
    if (Math.abs(sum) >= Math.abs(value)) lost += sum - next + value
    else lost += value - next + sum
    sum = next
    numGood++
  }
  if (numGood === 0) return { ...NOTHING, count: end - start }
  if (Number.isFinite(sum)) sum += lost
  const mean = meanOf(sum, numGood, values, statuses, start, end)
  // Two passes: squares of differences from a mean that is known do not cancel. What the mean is off by from rounding
  // shows as a sum of differences that is not 0, and is taken out again.
  let squares = 0
  let differences = 0
  for (let i = start; i < end; i++) {
    const value = values[i]!
    if (statuses[i] !== STATUS_OK || Number.isNaN(value)) continue
    const difference = value - mean
    squares += difference * difference
    differences += difference
  }
  const rest = differences / numGood
  squares = Math.max(0, squares - differences * rest)
  const meanRest = Number.isFinite(rest) ? rest : 0
  return { count: end - start, numGood, sum, mean, meanRest, squares, min, max, first, last }
}

const NOTHING: Summary = {
  count: 0,
  numGood: 0,
  sum: 0,
  mean: Number.NaN,
  meanRest: 0,
  squares: 0,
  min: Number.NaN,
  max: Number.NaN,
  first: Number.NaN,
  last: Number.NaN,
}

/** The mean, also of values whose sum leaves the range of doubles. */
function meanOf(
  sum: number,
  numGood: number,
  values: Float64Array,
  statuses: Uint8Array,
  start: number,
  end: number,
): number {
  if (Number.isFinite(sum)) return sum / numGood
  const parts = new CompensatedSum()
  for (let i = start; i < end; i++) {
    const value = values[i]!
    if (statuses[i] === STATUS_OK && !Number.isNaN(value)) parts.add(value / numGood)
  }
  return parts.value
}

/**
 * Every aggregate but timeAvg of one window, from pages of points or summaries of them.
 *
 * Variance is merged from blocks (Chan, Golub, LeVeque) around means of twice the digits, so that 1,000,000 ± 0.01 keeps its own; sums are compensated; the
 * median is exact and keeps the good values of the window, which is why it must be asked for.
 */
export class AggregateAccumulator {
  readonly #median: GrowingColumn | null
  readonly #sum = new CompensatedSum()
  #count = 0
  #numGood = 0
  #mean = Number.NaN
  #meanRest = 0
  #squares = 0
  #min = Number.NaN
  #max = Number.NaN
  #first = Number.NaN
  #last = Number.NaN

  constructor(options: { readonly median: boolean }) {
    this.#median = options.median ? new GrowingColumn() : null
  }

  /** Back to an empty window. */
  reset(): void {
    this.#median?.clear()
    this.#sum.reset()
    this.#count = 0
    this.#numGood = 0
    this.#mean = Number.NaN
    this.#meanRest = 0
    this.#squares = 0
    this.#min = Number.NaN
    this.#max = Number.NaN
    this.#first = Number.NaN
    this.#last = Number.NaN
  }

  /** The next points, those with index from start (included) to end (excluded); ascending and after all before. */
  add(points: PointColumns, start = 0, end = points.times.length): void {
    for (let from = start; from < end; from += BLOCK_POINTS) {
      this.#merge(summarize(points, from, Math.min(end, from + BLOCK_POINTS)))
    }
    if (this.#median === null) return
    const { values, statuses } = points
    for (let i = start; i < end; i++) {
      const value = values[i]!
      if (statuses[i] === STATUS_OK && !Number.isNaN(value)) this.#median.push(value)
    }
  }

  /** The next stretch of points by its summary; not for a window whose median is wanted (BUG). */
  merge(summary: Summary): void {
    if (this.#median !== null) throw new TidemarkError('BUG', { what: 'a median has all of its points' })
    this.#merge(summary)
  }

  summary(): Summary {
    return {
      count: this.#count,
      numGood: this.#numGood,
      sum: this.#sum.value,
      mean: this.#mean,
      meanRest: this.#meanRest,
      squares: this.#squares,
      min: this.#min,
      max: this.#max,
      first: this.#first,
      last: this.#last,
    }
  }

  /** One aggregate; NaN where it cannot be computed or leaves the range of doubles, counts 0 over nothing. */
  value(name: Exclude<AggregateName, 'timeAvg'>): number {
    const value = this.#value(name)
    return Number.isFinite(value) ? value : Number.NaN
  }

  #value(name: Exclude<AggregateName, 'timeAvg'>): number {
    switch (name) {
      case 'count':
        return this.#count
      case 'numGood':
        return this.#numGood
      case 'numBad':
        return this.#count - this.#numGood
      case 'min':
        return this.#min
      case 'max':
        return this.#max
      case 'range':
        return this.#max - this.#min
      case 'first':
        return this.#first
      case 'last':
        return this.#last
      case 'sum':
        return this.#numGood === 0 ? Number.NaN : this.#sum.value
      case 'avg':
        return this.#average()
      case 'variance':
        return this.#variance()
      case 'stdDev':
        return Math.sqrt(this.#variance())
      case 'median':
        return this.#median === null ? Number.NaN : this.#median.median()
    }
  }

  #merge(next: Summary): void {
    this.#count += next.count
    if (next.numGood === 0) return
    this.#last = next.last
    this.#sum.add(next.sum)
    if (this.#numGood === 0) {
      this.#numGood = next.numGood
      this.#mean = next.mean
      this.#meanRest = next.meanRest
      this.#squares = next.squares
      this.#min = next.min
      this.#max = next.max
      this.#first = next.first
      return
    }
    const total = this.#numGood + next.numGood
    const difference = next.mean - this.#mean + (next.meanRest - this.#meanRest)
    this.#squares += next.squares + difference * difference * ((this.#numGood * next.numGood) / total)
    this.#moveMean(difference * (next.numGood / total))
    this.#numGood = total
    this.#min = Math.min(this.#min, next.min)
    this.#max = Math.max(this.#max, next.max)
  }

  /** Knuth's sum of two numbers: what rounding takes from the new mean stays in the rest. */
  #moveMean(step: number): void {
    const before = this.#mean
    const move = step + this.#meanRest
    const mean = before + move
    const moved = mean - before
    const rest = before - (mean - moved) + (move - moved)
    this.#mean = mean
    this.#meanRest = Number.isFinite(rest) ? rest : 0
  }

  #average(): number {
    if (this.#numGood === 0) return Number.NaN
    const sum = this.#sum.value
    return Number.isFinite(sum) ? sum / this.#numGood : this.#mean
  }

  #variance(): number {
    if (this.#numGood === 0) return Number.NaN
    return this.#numGood === 1 ? 0 : this.#squares / (this.#numGood - 1)
  }
}

/** Aggregates over windows that join, fed with all points of the range page by page; memory is that of one window. */
export class WindowAggregator {
  readonly #edges: Float64Array
  readonly #names: readonly Exclude<AggregateName, 'timeAvg'>[]
  readonly #columns: Float64Array[]
  readonly #window: AggregateAccumulator
  readonly #needsPoints: boolean
  #index = 0

  /**
   * @param edges  n + 1 ascending instants for n windows [edge, next edge)
   * @param names  those to compute; timeAvg is not from points alone and is left out (see integrate.ts)
   */
  constructor(edges: Float64Array, names: readonly AggregateName[]) {
    this.#edges = edges
    this.#names = names.filter((name) => name !== 'timeAvg')
    this.#columns = this.#names.map(() => new Float64Array(Math.max(0, edges.length - 1)))
    this.#needsPoints = names.includes('median')
    this.#window = new AggregateAccumulator({ median: this.#needsPoints })
  }

  /** The next page, ascending and after all before; points outside the windows are left out. */
  add(points: PointColumns): void {
    const { times } = points
    const edges = this.#edges
    let at = lowerBound(times, edges[0]!)
    while (at < times.length && this.#index < edges.length - 1) {
      const windowEnd = edges[this.#index + 1]!
      if (times[at]! >= windowEnd) {
        this.#closeWindow()
        continue
      }
      const end = times[times.length - 1]! < windowEnd ? times.length : lowerBound(times, windowEnd)
      this.#window.add(points, at, end)
      at = end
    }
  }

  /**
   * Whether the next points, from one time to another, all fall into one window or into none: then `addSummary` takes them.
   * Never when a median is wanted.
   */
  takes(firstTime: number, lastTime: number): boolean {
    if (this.#needsPoints) return false
    const edges = this.#edges
    while (this.#index < edges.length - 1 && firstTime >= edges[this.#index + 1]!) this.#closeWindow()
    if (this.#index === edges.length - 1 || lastTime < edges[0]!) return true
    return firstTime >= edges[this.#index]! && lastTime < edges[this.#index + 1]!
  }

  /** The next points by their summary; only after `takes` said yes to their times. */
  addSummary(summary: Summary, lastTime: number): void {
    if (this.#index === this.#edges.length - 1 || lastTime < this.#edges[0]!) return
    this.#window.merge(summary)
  }

  /** The aggregates, once all points were fed. */
  finish(): AggregateColumns {
    while (this.#index < this.#edges.length - 1) this.#closeWindow()
    return Object.fromEntries(this.#names.map((name, i) => [name, this.#columns[i]!]))
  }

  #closeWindow(): void {
    for (let i = 0; i < this.#names.length; i++) {
      this.#columns[i]![this.#index] = this.#window.value(this.#names[i]!)
    }
    this.#window.reset()
    this.#index++
  }
}

/** A column whose length is not known beforehand. */
class GrowingColumn {
  #values = new Float64Array(64)
  #length = 0

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }

  clear(): void {
    this.#length = 0
  }

  /** The middle value, or the mean of the two middle ones; NaN of none. Sorts in place. */
  median(): number {
    if (this.#length === 0) return Number.NaN
    const sorted = this.#values.subarray(0, this.#length).sort()
    const middle = this.#length >>> 1
    if (this.#length % 2 === 1) return sorted[middle]!
    const sum = sorted[middle - 1]! + sorted[middle]!
    return Number.isFinite(sum) ? sum / 2 : sorted[middle - 1]! / 2 + sorted[middle]! / 2
  }
}
