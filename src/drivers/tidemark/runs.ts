import { evenEdges, evenGrid } from '../../time/grid.ts'
import type { Instant } from '../../time/instant.ts'

/**
 * A run of times that a request of the interface can name by its ends and their number: indexes `start` to `end`,
 * both in it.
 */
export interface Run {
  readonly start: number
  readonly end: number
}

/**
 * Takes times apart into runs that are even grids, exactly as the interface makes them: one, for the grids of its
 * own requests, however the span divides; for others, runs of equal steps and single times.
 * @param times ascending, distinct, not empty
 */
export function gridRuns(times: Float64Array): readonly Run[] {
  return isEven(times, evenGrid) ? [{ start: 0, end: times.length - 1 }] : equalSteps(times, false)
}

/**
 * The same for the windows between edges: each run is of its edges, and the next begins where the one before ended.
 * @param edges ascending, distinct, at least 2
 */
export function windowRuns(edges: Float64Array): readonly Run[] {
  const even = (from: Instant, to: Instant, count: number) => evenEdges(from, to, count - 1)
  return isEven(edges, even) ? [{ start: 0, end: edges.length - 1 }] : equalSteps(edges, true)
}

function isEven(
  times: Float64Array,
  make: (from: Instant, to: Instant, count: number) => Float64Array,
): boolean {
  const last = times.length - 1
  if (last < 1) return true
  const grid = make(times[0]! as Instant, times[last]! as Instant, times.length)
  for (let i = 1; i < last; i++) if (grid[i] !== times[i]) return false
  return true
}

/** @param joined whether a run begins at the time at which the one before ended */
function equalSteps(times: Float64Array, joined: boolean): readonly Run[] {
  const runs: Run[] = []
  const last = times.length - 1
  let start = 0
  while (start < last || (start === last && !joined)) {
    let end = Math.min(start + 1, last)
    const step = times[end]! - times[start]!
    while (end < last && times[end + 1]! - times[end]! === step) end++
    // Two times alone are no better than one, and the second may begin a longer run.
    if (!joined && end === start + 1 && end < last) end = start
    runs.push({ start, end })
    start = joined ? end : end + 1
  }
  return runs
}
