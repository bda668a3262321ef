import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'

/** Points that wait to be packed, in time order. */
export class PendingPoints {
  #columns = makeColumns(4_096)
  length = 0

  /** Valid until the next call. */
  get points(): PointColumns {
    return sliceColumns(this.#columns, 0, this.length)
  }

  /** Adds points that come after those before. */
  add(points: PointColumns): void {
    const count = points.times.length
    if (this.length + count > this.#columns.times.length) this.#grow(this.length + count)
    const { times, values, statuses } = this.#columns
    times.set(points.times, this.length)
    values.set(points.values, this.length)
    statuses.set(points.statuses, this.length)
    this.length += count
  }

  /** Takes so many points at the front away. */
  drop(count: number): void {
    const { times, values, statuses } = this.#columns
    times.copyWithin(0, count, this.length)
    values.copyWithin(0, count, this.length)
    statuses.copyWithin(0, count, this.length)
    this.length -= count
  }

  #grow(least: number): void {
    const larger = makeColumns(Math.max(least, 2 * this.#columns.times.length))
    larger.times.set(this.#columns.times)
    larger.values.set(this.#columns.values)
    larger.statuses.set(this.#columns.statuses)
    this.#columns = larger
  }
}
