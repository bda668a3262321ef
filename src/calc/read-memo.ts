import type { SeriesSource } from './series.ts'

/**
 * Small arrays of times by content, one for each call, so that equal times asked for by different series are the same
 * object and their reads are one read.
 */
const interned = new WeakMap<object, Map<string, Float64Array>>()

/** The array of these few times; the same object for the same times within a call. Not to be changed. */
export function timesFor(source: object, ...times: readonly number[]): Float64Array {
  let arrays = interned.get(source)
  if (arrays === undefined) {
    arrays = new Map()
    interned.set(source, arrays)
  }
  const key = times.join(' ')
  let array = arrays.get(key)
  if (array === undefined) {
    array = Float64Array.from(times)
    arrays.set(key, array)
  }
  return array
}

const named = new WeakMap<SeriesSource, Map<string, Float64Array>>()

/** The array of times with this name within a call, made when it is first asked for: equal names are equal times. */
export function namedTimes(source: SeriesSource, name: string, make: () => Float64Array): Float64Array {
  return named.getOrInsertComputed(source, () => new Map()).getOrInsertComputed(name, make)
}

/**
 * Remembers what was computed for an array of times, by the array's identity: the grids of a call are shared objects, so
 * a series that occurs twice is evaluated once.
 */
export class TimesMemo<Value> {
  readonly #made = new WeakMap<Float64Array, Value>()

  get(times: Float64Array, make: () => Value): Value {
    let value = this.#made.get(times)
    if (value === undefined) {
      value = make()
      this.#made.set(times, value)
    }
    return value
  }
}

const spans = new TimesMemo<readonly [starts: Float64Array, ends: Float64Array]>()

/** The windows between edges as spans; the same arrays for the same edges, so that their integrals are one read. */
export function windowSpans(edges: Float64Array): readonly [starts: Float64Array, ends: Float64Array] {
  return spans.get(edges, () => [edges.subarray(0, -1), edges.subarray(1)])
}
