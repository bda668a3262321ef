import { lowerBound, upperBound } from '../series/columns.ts'

/** Index of the first item after each of some times, or at or after it. Walks where they ascend, searches where they do not. */
export function indexesOf(
  items: Float64Array,
  times: Float64Array,
  which: 'after' | 'at-or-after',
): Int32Array {
  const indexes = new Int32Array(times.length)
  const search = which === 'after' ? upperBound : lowerBound
  // Few times among many items are cheaper searched for.
  const walk = items.length < times.length * 16
  let index = 0
  let previous = Number.NEGATIVE_INFINITY
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!
    if (walk && time >= previous && i > 0) {
      if (which === 'after') while (index < items.length && items[index]! <= time) index++
      else while (index < items.length && items[index]! < time) index++
    } else index = search(items, time)
    previous = time
    indexes[i] = index
  }
  return indexes
}

/** Each time once, ascending. */
export function distinctTimes(...columns: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(columns.reduce((length, column) => length + column.length, 0))
  let offset = 0
  for (const column of columns) {
    all.set(column, offset)
    offset += column.length
  }
  all.sort()
  let length = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[length++] = all[i]!
  return all.subarray(0, length)
}
