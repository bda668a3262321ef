import { makeColumns, NO_POINTS, type PointColumns, sliceColumns } from '../../series/columns.ts'

const LEAST_CAPACITY = 16

/**
 * Points in the order in which they came, whatever their times. They grow in one piece: a request often brings a single one, and
 * arrays of its own would take ten times its bytes.
 */
export class LatePoints {
  #columns: PointColumns = NO_POINTS
  length = 0

  /** Adds points with index from start to end, copied. */
  add(points: PointColumns, start: number, end: number): void {
    const length = this.length + end - start
    if (length > this.#columns.times.length) this.#reserve(length)
    const { times, values, statuses } = this.#columns
    for (let from = start, to = this.length; from < end; from++, to++) {
      times[to] = points.times[from]!
      values[to] = points.values[from]!
      statuses[to] = points.statuses[from]!
    }
    this.length = length
  }

  /** A view, until more are added. */
  columns(): PointColumns {
    return sliceColumns(this.#columns, 0, this.length)
  }

  #reserve(needed: number): void {
    const grown = makeColumns(Math.max(LEAST_CAPACITY, needed, Math.ceil(this.length * 1.5)))
    const { times, values, statuses } = this.columns()
    grown.times.set(times)
    grown.values.set(values)
    grown.statuses.set(statuses)
    this.#columns = grown
  }
}
