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

  /** Back to an empty window. */
  reset(): void {
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
  }

  /** The next points by their summary. */
  merge(summary: Summary): void {
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

  get count(): number {
    return this.#count
  }

  get numGood(): number {
    return this.#numGood
  }

  get min(): number {
    return this.#min
  }

  get max(): number {
    return this.#max
  }

  get first(): number {
    return this.#first
  }

  get last(): number {
    return this.#last
  }

  /** NaN over nothing. */
  get sum(): number {
    return this.#numGood === 0 ? Number.NaN : this.#sum.value
  }

  /** The arithmetic mean, also of values whose sum leaves the range of doubles. */
  get avg(): number {
    if (this.#numGood === 0) return Number.NaN
    const sum = this.#sum.value
    return Number.isFinite(sum) ? sum / this.#numGood : this.#mean
  }

  /** Sample variance; 0 of one point. */
  get variance(): number {
    if (this.#numGood === 0) return Number.NaN
    return this.#numGood === 1 ? 0 : this.#squares / (this.#numGood - 1)
  }

  /** Variance of the points as the whole population. */
  get populationVariance(): number {
    return this.#numGood === 0 ? Number.NaN : this.#squares / this.#numGood
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
