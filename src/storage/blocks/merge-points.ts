import {
  concatColumns,
  copyColumns,
  lowerBoundFrom,
  makeColumns,
  type PointColumns,
  sliceColumns,
} from '../../series/columns.ts'

/** After so many points in a row of one of two columns its next ones are looked for and copied as a whole. */
const LONG_STRETCH = 16

/**
 * All points of two columns in time order; where both have a timestamp, that of `over`. Both ascending and distinct.
 * May be one of them.
 * @param columns  gives memory with room for so many points at least, none of it theirs, that the result lies in
 */
export function mergePoints(
  base: PointColumns,
  over: PointColumns,
  columns: (count: number) => PointColumns = makeColumns,
): PointColumns {
  const baseLength = base.times.length
  const overLength = over.times.length
  if (overLength === 0) return base
  if (baseLength === 0) return over
  if (base.times[baseLength - 1]! < over.times[0]!) return concatColumns([base, over], columns)
  if (over.times[overLength - 1]! < base.times[0]!) return concatColumns([over, base], columns)
  const merged = columns(baseLength + overLength)
  let length = 0
  let left = 0
  let right = 0
  /** Points in a row that came from one of them. */
  let stretch = 0
  while (left < baseLength && right < overLength) {
    const leftTime = base.times[left]!
    const rightTime = over.times[right]!
    if (leftTime < rightTime) {
      stretch = stretch > 0 ? stretch + 1 : 1
      merged.times[length] = leftTime
      merged.values[length] = base.values[left]!
      merged.statuses[length] = base.statuses[left]!
      left++
    } else {
      stretch = stretch < 0 ? stretch - 1 : -1
      merged.times[length] = rightTime
      merged.values[length] = over.values[right]!
      merged.statuses[length] = over.statuses[right]!
      right++
      if (leftTime === rightTime) left++
    }
    length++
    if (stretch === LONG_STRETCH && left < baseLength) {
      const end = lowerBoundFrom(base.times, rightTime, left)
      length = copyTo(merged, length, base, left, end)
      left = end
      stretch = 0
    } else if (stretch === -LONG_STRETCH && left < baseLength) {
      const end = lowerBoundFrom(over.times, base.times[left]!, right)
      length = copyTo(merged, length, over, right, end)
      right = end
      stretch = 0
    }
  }
  length = copyTo(merged, length, base, left, baseLength)
  length = copyTo(merged, length, over, right, overLength)
  return sliceColumns(merged, 0, length)
}

/**
 * All points of some columns in time order; of several with the same timestamp that of the last columns. All ascending
 * and distinct, none empty, at least one; may be one of them. Neighbours are merged until one is left.
 * @param columns  as for `mergePoints`, for the last merge
 */
export function mergeRuns(
  runs: readonly PointColumns[],
  columns: (count: number) => PointColumns = makeColumns,
): PointColumns {
  if (runs.length === 1) return runs[0]!
  const into = runs.length === 2 ? columns : makeColumns
  const merged: PointColumns[] = []
  for (let i = 0; i < runs.length; i += 2) {
    merged.push(i + 1 < runs.length ? mergePoints(runs[i]!, runs[i + 1]!, into) : runs[i]!)
  }
  return mergeRuns(merged, columns)
}

/** Copies points behind those that are there; gives how many are there then. */
function copyTo(
  merged: PointColumns,
  length: number,
  points: PointColumns,
  start: number,
  end: number,
): number {
  if (start === end) return length
  copyColumns(merged, length, points, start, end)
  return length + end - start
}
