import { type PointColumns, sliceColumns } from '../../series/columns.ts'
import { RunMerge } from './run-merge.ts'
import { sortPoints } from './sort-points.ts'

/** Points that are sorted, or merged, in a step: about a millisecond. */
export const POINTS_OF_STEP = 16_384
/** Runs that are merged into one, and most that are left. */
const FAN_IN = 8

/**
 * Points in any order as a handful of columns in time order, of which a later one counts before an earlier one, in
 * steps between which the caller may yield to the event loop (external merge sort). What is in order already is not
 * copied.
 * @param all  one after the other; to stay as they are as long as the result is looked at
 */
export function* sortInSteps(all: readonly PointColumns[]): Generator<void, readonly PointColumns[]> {
  let runs = yield* runsOf(all)
  while (runs.length > FAN_IN) {
    const merged: PointColumns[] = []
    for (let i = 0; i < runs.length; i += FAN_IN) {
      const merge = new RunMerge(runs.slice(i, i + FAN_IN))
      while (!merge.step(POINTS_OF_STEP)) yield
      merged.push(merge.points)
    }
    runs = merged
  }
  return runs
}

function* runsOf(all: readonly PointColumns[]): Generator<void, readonly PointColumns[]> {
  const runs: PointColumns[] = []
  for (const points of all) {
    /** Where the last run begins if it was in order, and the next points may go on with it; NaN otherwise. */
    let begins = Number.NaN
    for (let start = 0; start < points.times.length; start += POINTS_OF_STEP) {
      const end = Math.min(points.times.length, start + POINTS_OF_STEP)
      const some = sliceColumns(points, start, end)
      const sorted = sortPoints(some)
      const isInOrder = sorted === some
      if (isInOrder && points.times[start]! > points.times[start - 1]! && !Number.isNaN(begins)) {
        runs[runs.length - 1] = sliceColumns(points, begins, end)
      } else {
        runs.push(sorted)
        begins = isInOrder ? start : Number.NaN
      }
      yield
    }
  }
  return runs
}
