import { type PointColumns, STATUS_OK } from './columns.ts'
import type { ZoneMap } from './zone-map.ts'

/** State of the times of the least and the greatest good point of one window. */
export class Extremes {
  #min = Number.NaN
  #max = Number.NaN
  #minTime = Number.NaN
  #maxTime = Number.NaN

  reset(): void {
    this.#min = Number.NaN
    this.#max = Number.NaN
    this.#minTime = Number.NaN
    this.#maxTime = Number.NaN
  }

  /** The next points, those with index from start (included) to end (excluded); ascending and after all before. */
  add({ times, values, statuses }: PointColumns, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const value = values[i]!
      if (statuses[i] !== STATUS_OK || Number.isNaN(value)) continue
      this.#addMin(value, times[i]!)
      this.#addMax(value, times[i]!)
    }
  }

  /** Whether the next points can be added by their summary: it has the times, or they are not those of an extreme. */
  takes({ numGood, min, max, minTime, maxTime }: ZoneMap): boolean {
    if (numGood === 0 || min === max) return true
    return (minTime !== undefined || min >= this.#min) && (maxTime !== undefined || max <= this.#max)
  }

  /** The next points by their summary, in place of `add`; only after `takes` said yes to it. */
  addSummary({ numGood, min, max, minTime, maxTime, firstGoodTime }: ZoneMap): void {
    if (numGood === 0) return
    this.#addMin(min, minTime ?? firstGoodTime)
    this.#addMax(max, maxTime ?? firstGoodTime)
  }

  /** Instant of the earliest point with the least value; NaN of none. */
  get minTime(): number {
    return this.#minTime
  }

  /** Instant of the earliest point with the greatest value; NaN of none. */
  get maxTime(): number {
    return this.#maxTime
  }

  #addMin(value: number, time: number): void {
    if (value >= this.#min) return
    this.#min = value
    this.#minTime = time
  }

  #addMax(value: number, time: number): void {
    if (value <= this.#max) return
    this.#max = value
    this.#maxTime = time
  }
}
