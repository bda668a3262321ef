import { makeColumns, NO_POINTS, type PointColumns } from '../../series/columns.ts'

/** What more points need is made for them alone. */
const MOST_KEPT = 65_536

const NO_KEYS: Float64Array = new Float64Array(0)
const NO_ORDER: Uint32Array = new Uint32Array(0)

/**
 * Memory of points that is used again for the next ones. Memory that is made for each tag and becomes garbage lies
 * outside of the heap: V8 counts it and goes through the heap for it, with helper threads that take processors from
 * answers.
 */
export class ColumnsMemory {
  #columns = NO_POINTS

  /** Room for so many points at least, with anything in it. */
  columns(count: number): PointColumns {
    if (count > MOST_KEPT) return makeColumns(count)
    if (this.#columns.times.length < count) {
      this.#columns = makeColumns(Math.max(count, 2 * this.#columns.times.length))
    }
    return this.#columns
  }
}

/** Memory for sorting points. */
export class SortMemory extends ColumnsMemory {
  #keys = NO_KEYS
  #order = NO_ORDER

  /** So many numbers, with anything in them. */
  keys(count: number): Float64Array {
    if (count > MOST_KEPT) return new Float64Array(count)
    if (this.#keys.length < count) this.#keys = new Float64Array(Math.max(count, 2 * this.#keys.length))
    return this.#keys.subarray(0, count)
  }

  /** So many indexes, with anything in them. */
  order(count: number): Uint32Array {
    if (count > MOST_KEPT) return new Uint32Array(count)
    if (this.#order.length < count) this.#order = new Uint32Array(Math.max(count, 2 * this.#order.length))
    return this.#order.subarray(0, count)
  }
}
