import { mergeTimes } from '../../../series/columns.ts'
import { setValues } from '../../consumers/stream.ts'
import type { Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { indexesOf } from './indexes.ts'

/** Times that a chunk keeps at most, beside twice as many as it has raw points. */
const MORE_TIMES = 4_096

/** Times that are merged with few others; more than that go to all that are known, whose copy they are worth. */
const FEW_TIMES = 512

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
  readonly #rawTimes: Float64Array
  readonly #limits: Readonly<Record<Limit, KnownColumns>>

  /** @param rawTimes of the chunk */
  constructor(rawTimes: Float64Array, compute: (times: Float64Array, limit: Limit) => Float64Array) {
    this.#compute = compute
    this.#rawTimes = rawTimes
    const most = 2 * rawTimes.length + MORE_TIMES
    this.#limits = {
      at: new KnownColumns(most),
      before: new KnownColumns(most),
      after: new KnownColumns(most),
    }
  }

  /**
   * Works the values at raw times and their limits from the left out, cooperatively. A signal that does not jump has one
   * column of both.
   * @returns the values at the raw times; not to be changed
   */
  async prepare(evaluation: Evaluation): Promise<Float64Array> {
    const times = this.#rawTimes
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

/** Known values in two columns, so that a few more do not copy all of them. */
class KnownColumns {
  readonly #most: number
  #many: Column | null = null
  #few: Column | null = null

  constructor(most: number) {
    this.#most = most
  }

  /** Instead of what was known. */
  set(column: Column): void {
    this.#many = column
    this.#few = null
  }

  /** Puts what is known into `found`. @returns the indexes of the other times */
  lookUp(times: Float64Array, found: Float64Array): Int32Array {
    const missing = new Int32Array(times.length)
    const many = this.#many === null ? null : indexesOf(this.#many.times, times, 'at-or-after')
    const few = this.#few === null ? null : indexesOf(this.#few.times, times, 'at-or-after')
    let count = 0
    for (let i = 0; i < times.length; i++) {
      const time = times[i]!
      if (many !== null && this.#many!.times[many[i]!] === time) found[i] = this.#many!.values[many[i]!]!
      else if (few !== null && this.#few!.times[few[i]!] === time) found[i] = this.#few!.values[few[i]!]!
      else missing[count++] = i
    }
    return missing.subarray(0, count)
  }

  /** @param more none of its times is known */
  add(more: Column): void {
    const length = (this.#many?.times.length ?? 0) + (this.#few?.times.length ?? 0) + more.times.length
    if (length > this.#most) return
    this.#few = merged(this.#few, more)
    if (this.#few.times.length <= FEW_TIMES) return
    this.#many = merged(this.#many, this.#few)
    this.#few = null
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
