import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { mergePoints } from './merge-points.ts'

/** Shorter runs than this on average take as long as sorting points. */
const LEAST_POINTS = 32
/** More runs that overlap are sorted as points are: each doubling of their number is another merge. */
const MOST_MERGED = 16

/**
 * Points in time order whose times ascend in long runs, as of requests that came in another order than their times:
 * runs are copied as wholes, and merged where they overlap. Of several points with the same timestamp that of the last
 * run. `null` where there are many runs that are short or overlap.
 * @param all      one after the other, not empty
 * @param columns  gives memory with room for so many points at least, none of it theirs, that the result lies in
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
    return runs.length <= MOST_MERGED ? mergeNeighbours(runs, columns) : null
  }
  const joined = columns(count)
  let at = 0
  for (const { times, values, statuses } of inTime) {
    joined.times.set(times, at)
    joined.values.set(values, at)
    joined.statuses.set(statuses, at)
    at += times.length
  }
  return sliceColumns(joined, 0, count)
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

/** Merges two neighbours each until one is left: so the later ones count. At least two. */
function mergeNeighbours(
  runs: readonly PointColumns[],
  columns: (count: number) => PointColumns,
): PointColumns {
  const into = runs.length === 2 ? columns : makeColumns
  const merged: PointColumns[] = []
  for (let i = 0; i < runs.length; i += 2) {
    merged.push(i + 1 < runs.length ? mergePoints(runs[i]!, runs[i + 1]!, into) : runs[i]!)
  }
  return merged.length === 1 ? merged[0]! : mergeNeighbours(merged, columns)
}
