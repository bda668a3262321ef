import {
  allTimes,
  lowerBound,
  lowerBoundFrom,
  mergeTimes,
  upperBound,
  upperBoundFrom,
} from '../../../series/columns.ts'

/**
 * Index of the first item after each of some times, or at or after it. Walks where they ascend, searches where they do
 * not.
 */
export function indexesOf(
  items: Float64Array,
  times: Float64Array,
  which: 'after' | 'at-or-after',
): Int32Array {
  const indexes = new Int32Array(times.length)
  const search = which === 'after' ? upperBound : lowerBound
  const searchFrom = which === 'after' ? upperBoundFrom : lowerBoundFrom
  // Few times among many items are cheaper searched for, from the one before on: they mostly lie close together.
  const walk = items.length < times.length * 16
  let index = 0
  let previous = Number.NEGATIVE_INFINITY
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!
    if (walk && time >= previous && i > 0) {
      if (which === 'after') while (index < items.length && items[index]! <= time) index++
      else while (index < items.length && items[index]! < time) index++
    } else index = time >= previous ? searchFrom(items, time, index) : search(items, time)
    previous = time
    indexes[i] = index
  }
  return indexes
}

/** Each time once, ascending. */
export function distinctTimes(...columns: readonly Float64Array[]): Float64Array {
  const [a, b, more] = columns
  if (a !== undefined && b !== undefined && more === undefined && ascends(a) && ascends(b))
    return mergeTimes(a, b)
  return allTimes(columns)
}

/** Of values at ascending times those at some of these times, in any order. */
export function valuesOf(times: Float64Array, values: Float64Array, wanted: Float64Array): Float64Array {
  const indexes = indexesOf(times, wanted, 'at-or-after')
  const found = new Float64Array(wanted.length)
  // A loop: `from` goes through an iterator, which took half of the time of windows inside each other.
  for (let i = 0; i < found.length; i++) found[i] = values[indexes[i]!]!
  return found
}

/** Whether each time is above the one before. */
export function ascends(times: Float64Array): boolean {
  for (let i = 1; i < times.length; i++) if (times[i]! <= times[i - 1]!) return false
  return true
}
