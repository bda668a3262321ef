import { lowerBoundFrom, type PointColumns, sliceColumns } from '../../series/columns.ts'

/**
 * Takes stretches of time out of some columns, one after the other: what has to be sorted or merged as a whole is never
 * more than one of them. For a handful of columns, each ascending and distinct.
 */
export class RunStretches {
  readonly #runs: readonly PointColumns[]
  /** Of each run: its first point that was not taken yet. */
  readonly #places: Uint32Array

  constructor(runs: readonly PointColumns[]) {
    this.#runs = runs
    this.#places = new Uint32Array(runs.length)
  }

  /** Whether all points were taken. */
  get isOver(): boolean {
    return this.#runs.every(({ times }, run) => this.#places[run] === times.length)
  }

  /**
   * The points of the next stretch, all that are not taken yet and not later than its end, in the order of the columns
   * that they come from; they share memory with these.
   * @param most  points of it at most, not fewer than there are columns; it has about so many where there are so many
   */
  next(most: number): PointColumns[] {
    const end = this.#endOf(most)
    const taken: PointColumns[] = []
    for (const [run, points] of this.#runs.entries()) {
      const from = this.#places[run]!
      const to = lowerBoundFrom(points.times, end, from)
      this.#places[run] = to
      if (to > from) taken.push(sliceColumns(points, from, to))
    }
    return taken
  }

  /** The latest time before which there are no more points than `most`; Infinity for all that are left. */
  #endOf(most: number): number {
    if (this.#before(Number.POSITIVE_INFINITY) <= most) return Number.POSITIVE_INFINITY
    let fits = Number.POSITIVE_INFINITY
    let tooLate = Number.NEGATIVE_INFINITY
    for (const [run, { times }] of this.#runs.entries()) {
      if (this.#places[run] === times.length) continue
      fits = Math.min(fits, times[this.#places[run]!]!)
      tooLate = Math.max(tooLate, times[times.length - 1]! + 1)
    }
    // Times are whole numbers.
    while (tooLate - fits > 1) {
      const middle = Math.floor((fits + tooLate) / 2)
      if (this.#before(middle) <= most) fits = middle
      else tooLate = middle
    }
    return fits
  }

  /** Points before a time that were not taken yet. */
  #before(time: number): number {
    let count = 0
    for (const [run, { times }] of this.#runs.entries()) {
      const from = this.#places[run]!
      count += lowerBoundFrom(times, time, from) - from
    }
    return count
  }
}
