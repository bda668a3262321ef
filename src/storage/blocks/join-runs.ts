import { concatColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { mergeRuns } from './merge-points.ts'

/** Shorter runs than this on average take as long as sorting points. */
const LEAST_POINTS = 32
/** More runs that overlap are sorted as points are: each doubling of their number is another merge. */
const MOST_MERGED = 16

/**
 * Points in time order whose times ascend in long runs, as of requests that came in another order than their times:
 * runs are copied as wholes, and merged where they overlap. Of several points with the same timestamp that of the last
 * run. `null` where there are many runs that are short or overlap.
 * @param all      one after the other
 * @param columns  gives memory with room for so many points at least, none of it theirs, that a copy lies in
 */
export function joinRuns(
  all: readonly PointColumns[],
  columns: (count: number) => PointColumns,
): PointColumns | null {
  const count = all.reduce((sum, { times }) => sum + times.length, 0)
  const runs = runsOf(all, count / LEAST_POINTS)
  if (runs === null) return null
  const inTime = runs.toSorted((a, b) => a.times[0]! - b.times[0]!)
  if (!inTime.every((run, i) => i === 0 || inTime[i - 1]!.times.at(-1)! < run.times[0]!)) {
    return runs.length <= MOST_MERGED ? mergeRuns(runs, columns) : null
  }
  return concatColumns(inTime, columns)
}

/** `null` where there are more than `most`. */
function runsOf(all: readonly PointColumns[], most: number): PointColumns[] | null {
  const runs: PointColumns[] = []
  for (const points of all) {
    const { times } = points
    for (let start = 0; start < times.length; ) {
      let end = start + 1
      while (end < times.length && times[end]! > times[end - 1]!) end++
      if (runs.push(sliceColumns(points, start, end)) > most) return null
      start = end
    }
  }
  return runs
}
