import { setValues } from '../../consumers/stream.ts'
import type { Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { indexesOf } from './indexes.ts'
import { TimeTable } from './time-table.ts'

/** Times that a chunk keeps at most, beside twice as many as it has raw points. */
const MORE_TIMES = 4_096

/**
 * Values of a chunk that were worked out once. Windows inside each other ask their input for the same times again, at
 * their starts, at their ends and from the left, and it asks its own: each level would otherwise be worked out anew for
 * each level above it.
 */
export class KnownValues {
  readonly #compute: (times: Float64Array, limit: Limit) => Float64Array
  readonly #prepared: Float64Array
  readonly #most: number
  readonly #preparedValues: Partial<Record<Limit, Float64Array>> = {}
  readonly #more = { at: new TimeTable(), before: new TimeTable(), after: new TimeTable() }

  /** @param prepared times that `prepare` works out: the raw ones of a chunk */
  constructor(prepared: Float64Array, compute: (times: Float64Array, limit: Limit) => Float64Array) {
    this.#compute = compute
    this.#prepared = prepared
    this.#most = 2 * prepared.length + MORE_TIMES
  }

  /**
   * Works the values at these times and their limits from the left out, cooperatively. A signal that does not jump has
   * one column of both.
   * @returns the values; not to be changed
   */
  async prepare(evaluation: Evaluation): Promise<Float64Array> {
    const times = this.#prepared
    const [at, before] = [new Float64Array(times.length), new Float64Array(times.length)]
    await setValues(at, times, (part) => this.#compute(part, 'at'), evaluation)
    this.#preparedValues.at = at
    await setValues(before, times, (part) => this.#compute(part, 'before'), evaluation)
    const isSame = before.every((value, i) => Object.is(value, at[i]!))
    this.#preparedValues.before = isSame ? at : before
    return at
  }

  /** @param times ascending; not to be changed, like the result */
  valuesAt(times: Float64Array, limit: Limit): Float64Array {
    const known = this.#preparedValues[limit]
    const more = this.#more[limit]
    const prepared = known === undefined ? NONE : this.#prepared
    const indexes = indexesOf(prepared, times, 'at-or-after')
    const values = new Float64Array(times.length)
    const missing = new Int32Array(times.length)
    let count = 0
    for (let i = 0; i < values.length; i++) {
      const time = times[i]!
      if (prepared[indexes[i]!] === time) values[i] = known![indexes[i]!]!
      else {
        const slot = more.find(time)
        if (slot < 0) missing[count++] = i
        else values[i] = more.valueAt(slot)
      }
    }
    if (count === 0) return values
    const wanted = Float64Array.from(missing.subarray(0, count), (i) => times[i]!)
    const found = this.#compute(wanted, limit)
    for (let n = 0; n < count; n++) {
      values[missing[n]!] = found[n]!
      if (more.size < this.#most) more.add(wanted[n]!, found[n]!)
    }
    return values
  }
}

const NONE = new Float64Array(0)
