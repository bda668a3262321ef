import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import type { BlockView } from './block.ts'

/**
 * So many times what is there is room made for at most: what is expected goes by the first blocks, and may be wrong by
 * any factor where points are uneven.
 */
const MOST_GROWTH = 16

/** Columns whose length is not known beforehand, filled from blocks. */
export class ColumnsBuilder {
  readonly #most: number
  #columns: PointColumns
  #length = 0
  #expected = 0

  /** @param most  points that are added at most */
  constructor(capacity: number, most: number) {
    this.#most = most
    this.#columns = makeColumns(capacity)
  }

  get length(): number {
    return this.#length
  }

  /**
   * Room for so many points in all is made when the columns grow the next time, `most` and MOST_GROWTH times
   * what is there at the most: doubling takes twice the memory of what is given in the end, all of it garbage at once.
   */
  expect(points: number): void {
    this.#expected = points
  }

  /** Adds the points of a block with index from start to end, the last first when reversed. */
  add(block: BlockView, start: number, end: number, reversed: boolean): void {
    const count = end - start
    if (count <= 0) return
    this.#reserve(count)
    block.copyTo(this.#columns, this.#length, start, end)
    if (reversed) {
      const { times, values, statuses } = this.#columns
      times.subarray(this.#length, this.#length + count).reverse()
      values.subarray(this.#length, this.#length + count).reverse()
      statuses.subarray(this.#length, this.#length + count).reverse()
    }
    this.#length += count
  }

  /** What was added; may share memory with the builder, which is not to be used any more. */
  finish(): PointColumns {
    const points = sliceColumns(this.#columns, 0, this.#length)
    // Little in a lot of memory would keep all of it.
    if (this.#length * 2 >= this.#columns.times.length) return points
    return {
      times: points.times.slice(),
      values: points.values.slice(),
      statuses: points.statuses.slice(),
    }
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#columns.times.length) return
    const wanted = Math.max(Math.min(this.#expected, MOST_GROWTH * needed), 2 * this.#columns.times.length)
    const larger = makeColumns(Math.max(needed, Math.min(this.#most, wanted)))
    larger.times.set(this.#columns.times)
    larger.values.set(this.#columns.values)
    larger.statuses.set(this.#columns.statuses)
    this.#columns = larger
  }
}
