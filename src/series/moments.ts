import type { PointColumns } from './columns.ts'
import { CompensatedSum } from './sum.ts'
import { BLOCK_POINTS, type Summary, summarize } from './summary.ts'

/**
 * State of the aggregates that follow from counts, sums and moments of the points of one window, fed with pages of
 * points or summaries of them.
 *
 * Variance is merged from blocks (Chan, Golub, LeVeque) around means of twice the digits, so that 1,000,000 ± 0.01
 * keeps its own; sums are compensated.
 */
export class Moments {
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
  readonly #held = new HeldPoints()
  readonly #withSquares: boolean

  /** @param withSquares whether variances are wanted; those of points that are fed without are 0 */
  constructor(withSquares = true) {
    this.#withSquares = withSquares
  }

  /** Back to an empty window. */
  reset(): void {
    this.#held.clear()
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

  /**
   * The next points, those with index from start (included) to end (excluded); ascending and after all before. Blocks
   * begin with the window and not with a page, so that the last digits do not depend on the length of pages: what is
   * left of a page waits for the next one.
   * @param isLast whether no more points come
   */
  add(points: PointColumns, start = 0, end = points.times.length, isLast = false): void {
    const held = this.#held
    let from = start
    if (held.length > 0) {
      from += held.add(points, from, end)
      if (held.length === BLOCK_POINTS) this.#settle()
    }
    for (; end - from >= BLOCK_POINTS; from += BLOCK_POINTS) {
      this.#merge(summarize(points, from, from + BLOCK_POINTS, this.#withSquares))
    }
    if (from === end) return
    if (isLast) this.#merge(summarize(points, from, end, this.#withSquares))
    else held.add(points, from, end)
  }

  /** The next points by their summary. */
  merge(summary: Summary): void {
    this.#settle()
    this.#merge(summary)
  }

  summary(): Summary {
    this.#settle()
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

  get count(): number {
    this.#settle()
    return this.#count
  }

  get numGood(): number {
    this.#settle()
    return this.#numGood
  }

  get min(): number {
    this.#settle()
    return this.#min
  }

  get max(): number {
    this.#settle()
    return this.#max
  }

  get first(): number {
    this.#settle()
    return this.#first
  }

  get last(): number {
    this.#settle()
    return this.#last
  }

  /** NaN over nothing. */
  get sum(): number {
    this.#settle()
    return this.#numGood === 0 ? Number.NaN : this.#sum.value
  }

  /** The arithmetic mean, also of values whose sum leaves the range of doubles. */
  get avg(): number {
    this.#settle()
    if (this.#numGood === 0) return Number.NaN
    const sum = this.#sum.value
    return Number.isFinite(sum) ? sum / this.#numGood : this.#mean
  }

  /** Sample variance; 0 of one point. */
  get variance(): number {
    this.#settle()
    if (this.#numGood === 0) return Number.NaN
    return this.#numGood === 1 ? 0 : this.#squares / (this.#numGood - 1)
  }

  /** Variance of the points as the whole population. */
  get populationVariance(): number {
    this.#settle()
    return this.#numGood === 0 ? Number.NaN : this.#squares / this.#numGood
  }

  /** Takes the points that wait for more of their block. */
  #settle(): void {
    if (this.#held.length === 0) return
    const summary = this.#held.summary(this.#withSquares)
    this.#held.clear()
    this.#merge(summary)
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

  /**
   * Knuth's sum of two numbers: compensated summation, which keeps the rounding error of the new mean in the remainder.
   */
  #moveMean(step: number): void {
    const before = this.#mean
    const move = step + this.#meanRest
    const mean = before + move
    const moved = mean - before
    const rest = before - (mean - moved) + (move - moved)
    this.#mean = mean
    this.#meanRest = Number.isFinite(rest) ? rest : 0
  }
}

/** The first points of a block, copied: a page is not kept. */
class HeldPoints {
  length = 0
  #values = new Float64Array(0)
  #statuses = new Uint8Array(0)

  /** As many of some points as the block takes. @returns how many */
  add({ values, statuses }: PointColumns, start: number, end: number): number {
    const before = this.length
    const added = Math.min(end - start, BLOCK_POINTS - before)
    this.#reserve(before + added)
    this.#values.set(values.subarray(start, start + added), before)
    this.#statuses.set(statuses.subarray(start, start + added), before)
    this.length = before + added
    return added
  }

  clear(): void {
    this.length = 0
  }

  summary(withSquares: boolean): Summary {
    // Summaries have no times.
    const points = { times: NO_TIMES, values: this.#values, statuses: this.#statuses }
    return summarize(points, 0, this.length, withSquares)
  }

  #reserve(length: number): void {
    if (length <= this.#values.length) return
    const capacity = Math.min(BLOCK_POINTS, Math.max(length, 2 * this.#values.length))
    const [values, statuses] = [this.#values, this.#statuses]
    this.#values = new Float64Array(capacity)
    this.#statuses = new Uint8Array(capacity)
    this.#values.set(values)
    this.#statuses.set(statuses)
  }
}

const NO_TIMES = new Float64Array(0)
