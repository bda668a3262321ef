import { mergeTimes } from '../../../series/columns.ts'
import { setValues } from '../../consumers/stream.ts'
import type { Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { indexesOf } from './indexes.ts'

/** Times that a chunk keeps at most, beside twice as many as it has raw points. */
const MORE_TIMES = 4_096

/** Times that are merged with few others. */
const FEW_TIMES = 512
/** How much longer a column is than the next, at least. */
const GROWTH = 4

/** Values at ascending times. */
interface Column {
  readonly times: Float64Array
  readonly values: Float64Array
}

/**
 * Values of a chunk that were worked out once. Windows inside each other ask their input for the same times again, at
 * their starts, at their ends and from the left, and it asks its own: each level would otherwise be worked out anew for
 * each level above it.
 */
export class KnownValues {
  readonly #compute: (times: Float64Array, limit: Limit) => Float64Array
  readonly #prepared: Float64Array
  readonly #limits: Readonly<Record<Limit, KnownColumns>>

  /** @param prepared times that `prepare` works out: the raw ones of a chunk */
  constructor(prepared: Float64Array, compute: (times: Float64Array, limit: Limit) => Float64Array) {
    this.#compute = compute
    this.#prepared = prepared
    const most = 2 * prepared.length + MORE_TIMES
    this.#limits = {
      at: new KnownColumns(most),
      before: new KnownColumns(most),
      after: new KnownColumns(most),
    }
  }

  /**
   * Works the values at these times and their limits from the left out, cooperatively. A signal that does not jump has one
   * column of both.
   * @returns the values; not to be changed
   */
  async prepare(evaluation: Evaluation): Promise<Float64Array> {
    const times = this.#prepared
    const [at, before] = [new Float64Array(times.length), new Float64Array(times.length)]
    await setValues(at, times, (part) => this.#compute(part, 'at'), evaluation)
    this.#limits.at.set({ times, values: at })
    await setValues(before, times, (part) => this.#compute(part, 'before'), evaluation)
    const isSame = before.every((value, i) => Object.is(value, at[i]!))
    this.#limits.before.set({ times, values: isSame ? at : before })
    return at
  }

  /** @param times ascending; not to be changed, like the result */
  valuesAt(times: Float64Array, limit: Limit): Float64Array {
    const known = this.#limits[limit]
    const found = new Float64Array(times.length)
    const missing = known.lookUp(times, found)
    if (missing.length === 0) return found
    if (missing.length === times.length) {
      const values = this.#compute(times, limit)
      known.add({ times, values })
      return values
    }
    const missingTimes = new Float64Array(missing.length)
    for (let n = 0; n < missing.length; n++) missingTimes[n] = times[missing[n]!]!
    const values = this.#compute(missingTimes, limit)
    for (let n = 0; n < missing.length; n++) found[missing[n]!] = values[n]!
    known.add({ times: missingTimes, values })
    return found
  }
}

/**
 * Known values in a few columns, of which each is several times as long as the next (a log-structured merge), so that a
 * few more do not copy all of them.
 */
class KnownColumns {
  readonly #most: number
  /** The longest first. */
  #columns: Column[] = []
  #few: Column | null = null

  constructor(most: number) {
    this.#most = most
  }

  /** Instead of what was known. */
  set(column: Column): void {
    this.#columns = [column]
    this.#few = null
  }

  /** Puts what is known into `found`. @returns the indexes of the other times */
  lookUp(times: Float64Array, found: Float64Array): Int32Array {
    const missing = new Int32Array(times.length)
    for (let i = 0; i < missing.length; i++) missing[i] = i
    let count = missing.length
    for (const known of this.#all()) {
      if (count === 0) break
      const indexes = indexesOf(known.times, times, 'at-or-after')
      let left = 0
      for (let n = 0; n < count; n++) {
        const i = missing[n]!
        if (known.times[indexes[i]!] === times[i]) found[i] = known.values[indexes[i]!]!
        else missing[left++] = i
      }
      count = left
    }
    return missing.subarray(0, count)
  }

  /** @param more none of its times is known */
  add(more: Column): void {
    const length = this.#all().reduce((sum, { times }) => sum + times.length, more.times.length)
    if (length > this.#most) return
    let few = merged(this.#few, more)
    this.#few = few
    if (few.times.length <= FEW_TIMES) return
    while (this.#columns.length > 0 && this.#columns.at(-1)!.times.length < GROWTH * few.times.length)
      few = merged(this.#columns.pop()!, few)
    this.#columns.push(few)
    this.#few = null
  }

  #all(): readonly Column[] {
    return this.#few === null ? this.#columns : [...this.#columns, this.#few]
  }
}

function merged(known: Column | null, more: Column): Column {
  if (known === null) return more
  const times = mergeTimes(known.times, more.times)
  const values = new Float64Array(times.length)
  for (let i = 0, k = 0, m = 0; i < times.length; i++) {
    const time = times[i]!
    if (known.times[k] === time) values[i] = known.values[k++]!
    else values[i] = more.values[m++]!
  }
  return { times, values }
}
