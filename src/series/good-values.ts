import { type PointColumns, STATUS_OK } from './columns.ts'

const LEAST_VALUES = 64
/** Memory is taken with the first value: mostly there is none. */
const NO_VALUES = new Float64Array(0)

/** State of aggregates that need all good values of one window. */
export class GoodValues {
  #values = NO_VALUES
  #length = 0

  reset(): void {
    this.#length = 0
  }

  /** The next points, those with index from start (included) to end (excluded). */
  add({ values, statuses }: PointColumns, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const value = values[i]!
      if (statuses[i] === STATUS_OK && !Number.isNaN(value)) this.#push(value)
    }
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

  #push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(Math.max(LEAST_VALUES, this.#length * 2))
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }
}
