import { type PointColumns, type Status, sliceColumns } from '../../series/columns.ts'

/** Columns of points whose number is not known beforehand. */
export class ColumnsGrower {
  #times = new Float64Array(16)
  #values = new Float64Array(16)
  #statuses = new Uint8Array(16)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(time: number, value: number, status: Status): void {
    if (this.#length === this.#times.length) this.#grow()
    this.#times[this.#length] = time
    this.#values[this.#length] = value
    this.#statuses[this.#length] = status
    this.#length++
  }

  /** Takes out what there is and starts anew. */
  flush(): PointColumns {
    const columns = this.columns(this.#length)
    this.#times = new Float64Array(this.#times.length)
    this.#values = new Float64Array(this.#values.length)
    this.#statuses = new Uint8Array(this.#statuses.length)
    this.#length = 0
    return columns
  }

  /** The first points, as many as there are up to a number; the memory of exactly these. */
  columns(most: number): PointColumns {
    const columns = { times: this.#times, values: this.#values, statuses: this.#statuses }
    const { times, values, statuses } = sliceColumns(columns, 0, Math.min(most, this.#length))
    return { times: times.slice(), values: values.slice(), statuses: statuses.slice() }
  }

  #grow(): void {
    const times = new Float64Array(this.#length * 2)
    const values = new Float64Array(this.#length * 2)
    const statuses = new Uint8Array(this.#length * 2)
    times.set(this.#times)
    values.set(this.#values)
    statuses.set(this.#statuses)
    this.#times = times
    this.#values = values
    this.#statuses = statuses
  }
}
