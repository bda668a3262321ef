import type { PointColumns } from '../../series/columns.ts'

/** Shorter runs than this on average take as long as sorting points. */
const LEAST_POINTS = 32

/** Points of one of the columns, from `start` to `end`, whose times ascend. */
interface Run {
  readonly points: PointColumns
  readonly start: number
  readonly end: number
}

/**
 * Points in time order whose runs of ascending times do not overlap, as of requests that came in another order than
 * their times: each run is copied as a whole. `null` where runs overlap, share a timestamp, or are short.
 * @param all      one after the other, not empty
 * @param columns  gives memory with room for so many points at least, none of it theirs, that the result begins in
 */
export function joinRuns(
  all: readonly PointColumns[],
  columns: (count: number) => PointColumns,
): PointColumns | null {
  const count = all.reduce((sum, { times }) => sum + times.length, 0)
  const runs = runsOf(all, count / LEAST_POINTS)
  if (runs === null) return null
  runs.sort((a, b) => firstTime(a) - firstTime(b))
  for (let i = 1; i < runs.length; i++) {
    if (!(lastTime(runs[i - 1]!) < firstTime(runs[i]!))) return null
  }
  const joined = columns(count)
  let at = 0
  for (const { points, start, end } of runs) {
    joined.times.set(points.times.subarray(start, end), at)
    joined.values.set(points.values.subarray(start, end), at)
    joined.statuses.set(points.statuses.subarray(start, end), at)
    at += end - start
  }
  return joined
}

const firstTime = ({ points, start }: Run) => points.times[start]!
const lastTime = ({ points, end }: Run) => points.times[end - 1]!

/** `null` where there are more than `most`. */
function runsOf(all: readonly PointColumns[], most: number): Run[] | null {
  const runs: Run[] = []
  for (const points of all) {
    const { times } = points
    for (let start = 0; start < times.length; ) {
      let end = start + 1
      while (end < times.length && times[end]! > times[end - 1]!) end++
      if (runs.push({ points, start, end }) > most) return null
      start = end
    }
  }
  return runs
}
