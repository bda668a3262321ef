import type { FirstAggregateName } from '../../series/aggregate-names.ts'
import { CompensatedSum } from '../../series/sum.ts'

type PointAggregate = Exclude<FirstAggregateName, 'timeAvg'>

/**
 * Aggregates over a range of points whose values repeat: each value with how often it occurs, however long the
 * range. All points are good.
 */
export class RepeatedPoints {
  readonly #values: Float64Array
  /** Places of the values in ascending order. */
  readonly #sorted: readonly number[]
  readonly #times: Float64Array
  #count = 0
  #first = 0
  #last = 0
  #mean = Number.NaN

  /** @param values in the order in which they repeat */
  constructor(values: Float64Array) {
    this.#values = values
    this.#sorted = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!)
    this.#times = new Float64Array(values.length)
  }

  /** Takes a number of points, the first of which has the value `values[first]`. */
  choose(first: number, count: number): void {
    const length = this.#values.length
    const rest = count % length
    this.#count = count
    this.#first = first
    this.#last = (first + rest + length - 1) % length
    this.#times.fill((count - rest) / length)
    for (let i = 0; i < rest; i++) this.#times[(first + i) % length]!++
    this.#mean = count === 0 ? Number.NaN : this.#average()
  }

  /** One aggregate of the chosen points; NaN where it cannot be computed, counts 0 over nothing. */
  aggregate(name: PointAggregate): number {
    const value = this.#aggregate(name)
    return Number.isFinite(value) ? value : Number.NaN
  }

  #aggregate(name: PointAggregate): number {
    if (name === 'count' || name === 'numGood') return this.#count
    if (name === 'numBad') return 0
    if (this.#count === 0) return Number.NaN
    switch (name) {
      case 'min':
        return this.#smallest()
      case 'max':
        return this.#largest()
      case 'range':
        return this.#largest() - this.#smallest()
      case 'first':
        return this.#values[this.#first]!
      case 'last':
        return this.#values[this.#last]!
      case 'sum':
        return this.#sum((value, times) => times * value)
      case 'avg':
        return this.#mean
      case 'variance':
        return this.#variance()
      case 'stdDev':
        return Math.sqrt(this.#variance())
      case 'median':
        return this.#median()
    }
  }

  #average(): number {
    const sum = this.#sum((value, times) => times * value)
    if (Number.isFinite(sum)) return sum / this.#count
    return this.#sum((value, times) => (times / this.#count) * value)
  }

  #variance(): number {
    if (this.#count === 1) return 0
    const squares = this.#sum((value, times) => times * (value - this.#mean) ** 2)
    const off = this.#sum((value, times) => times * (value - this.#mean))
    return Math.max(0, squares - (off * off) / this.#count) / (this.#count - 1)
  }

  #sum(term: (value: number, times: number) => number): number {
    const sum = new CompensatedSum()
    for (let i = 0; i < this.#values.length; i++) {
      if (this.#times[i]! > 0) sum.add(term(this.#values[i]!, this.#times[i]!))
    }
    return sum.value
  }

  #smallest(): number {
    return this.#values[this.#sorted.find((at) => this.#times[at]! > 0)!]!
  }

  #largest(): number {
    return this.#values[this.#sorted.findLast((at) => this.#times[at]! > 0)!]!
  }

  #median(): number {
    const middle = Math.floor(this.#count / 2)
    const upper = this.#ranked(middle)
    if (this.#count % 2 === 1) return upper
    return this.#ranked(middle - 1) / 2 + upper / 2
  }

  /** The value with so many before it when all are sorted. */
  #ranked(rank: number): number {
    let before = 0
    for (const at of this.#sorted) {
      before += this.#times[at]!
      if (before > rank) return this.#values[at]!
    }
    return Number.NaN
  }
}
