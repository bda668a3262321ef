import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'

/** Points of one tag in time order in memory of their own. What was given out stays as it is while points are added. */
export class LongPoints {
  length = 0
  /** The times and, `#capacity` behind them, the values. */
  #doubles: Float64Array
  #capacity: number
  /** `null` as long as all points are OK. */
  #statuses: Uint8Array | null = null

  /** @param capacity  points that there is room for at first, at least one */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#doubles = new Float64Array(2 * capacity)
  }

  /** Makes room for so many in all. */
  reserve(needed: number): void {
    if (needed <= this.#capacity) return
    const capacity = Math.max(needed, 2 * this.#capacity)
    const { times, values } = this.view(0)
    const doubles = new Float64Array(2 * capacity)
    doubles.set(times)
    doubles.set(values, capacity)
    this.#doubles = doubles
    this.#capacity = capacity
    if (this.#statuses === null) return
    const statuses = new Uint8Array(capacity)
    statuses.set(this.#statuses.subarray(0, this.length))
    this.#statuses = statuses
  }

  /**
   * Adds points as long as each is newer than the one before; there is room for them.
   * @param last  time of the point before
   * @returns     index of the first one that was not added
   */
  addNewer({ times, values, statuses }: PointColumns, start: number, end: number, last: number): number {
    const doubles = this.#doubles
    let length = this.length
    let index = start
    for (; index < end; index++) {
      const time = times[index]!
      if (!(time > last)) break
      doubles[length] = time
      doubles[this.#capacity + length] = values[index]!
      const status = statuses[index]!
      if (status !== STATUS_OK) this.#makeStatuses()[length] = status
      last = time
      length++
    }
    this.length = length
    return index
  }

  /** Makes these points those that it holds; there is room for them. */
  set({ times, values, statuses }: PointColumns): void {
    this.#doubles.set(times)
    this.#doubles.set(values, this.#capacity)
    if (statuses.includes(STATUS_BAD)) this.#makeStatuses().set(statuses)
    this.length = times.length
  }

  /** The points from an index on; shared, not to be changed. */
  view(first: number): PointColumns {
    const { length } = this
    return {
      times: this.#doubles.subarray(first, length),
      values: this.#doubles.subarray(this.#capacity + first, this.#capacity + length),
      statuses: this.#statuses === null ? allOk(length - first) : this.#statuses.subarray(first, length),
    }
  }

  #makeStatuses(): Uint8Array {
    this.#statuses ??= new Uint8Array(this.#capacity)
    return this.#statuses
  }
}

let ok = new Uint8Array(1024)

/** So many statuses that are all OK; shared, not to be changed. */
export function allOk(length: number): Uint8Array {
  if (length > ok.length) ok = new Uint8Array(length * 2)
  return ok.subarray(0, length)
}
