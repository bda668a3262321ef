import type { Instant } from '../../time/instant.ts'
import type { ColumnsBody } from '../access.ts'

/**
 * Points on their way into one write request, by address in the order of the file: the last one of a time wins there.
 */
export class Batch {
  readonly #tags = new Map<string, TagBatch>()
  #length = 0

  get length(): number {
    return this.#length
  }

  add(address: string, at: Instant, value: number, isBad: boolean): void {
    let tag = this.#tags.get(address)
    if (tag === undefined) {
      tag = { timestamps: [], values: [], bad: [] }
      this.#tags.set(address, tag)
    }
    if (isBad) tag.bad.push(tag.timestamps.length)
    tag.timestamps.push(at)
    tag.values.push(value)
    this.#length++
  }

  /** The body's points; empties the batch. */
  take(): ReadonlyMap<string, ColumnsBody> {
    const points = new Map<string, ColumnsBody>()
    for (const [address, { timestamps, values, bad }] of this.#tags) {
      const columns = { timestamps, values, unit: 'us' }
      points.set(address, bad.length === 0 ? columns : { ...columns, statuses: statuses(values.length, bad) })
    }
    this.#tags.clear()
    this.#length = 0
    return points
  }
}

interface TagBatch {
  readonly timestamps: number[]
  readonly values: number[]
  /** Indexes of the BAD points. */
  readonly bad: number[]
}

function statuses(length: number, bad: readonly number[]): readonly string[] {
  const all = new Array<string>(length).fill('OK')
  for (const index of bad) all[index] = 'BAD'
  return all
}
