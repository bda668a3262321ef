import { concatColumns, lowerBound, type PointColumns, sliceColumns } from '../../series/columns.ts'
import type { BoundingValues, PlotPoints, SignalShape } from '../../series/reads.ts'
import { columnsOf } from '../graph/point-source.ts'

/**
 * With a break where the last value of a stored tag without `maxGapUs` ends, which its raw points do not show.
 * @param values the signal's at both ends of the range
 */
export function withEndOfHold(
  plot: PlotPoints,
  [from, to]: Float64Array,
  [first, last]: Float64Array,
  { holdUntil }: SignalShape,
): PlotPoints {
  if (!Number.isNaN(last!)) return plot
  const lastGood = lastGoodTime(plot.points)
  if (lastGood === null && Number.isNaN(first!)) return plot
  return withBreak(plot, Math.max(holdUntil, lastGood ?? from!) + 1, to!)
}

/**
 * With breaks where the signal ends between the good points beside the range and those in it, for a tag with
 * `maxGapUs`.
 * @param beside the good points before the first edge and at or after the last
 */
export function withGapsAtEnds(
  plot: PlotPoints,
  [from, to]: Float64Array,
  beside: BoundingValues,
  shape: SignalShape & { readonly maxGapUs: number },
): PlotPoints {
  const before = beside.beforeTimes[0]!
  const after = beside.afterTimes[1]!
  const first = firstGoodTime(plot.points)
  const last = lastGoodTime(plot.points)
  let whole = plot
  if (!Number.isNaN(before)) {
    const end = endAfter(before, first ?? after, shape)
    // Where the signal has no value at the first edge already, nothing that is given ends.
    if (end > from!) whole = withBreak(whole, end, first ?? to!)
  }
  return last === null ? whole : withBreak(whole, endAfter(last, after, shape), to!)
}

/**
 * When the signal first has no value after a good point; Infinity when it has one until the next. NaN: there is none.
 */
function endAfter(
  time: number,
  next: number,
  { stepped, holdUntil, maxGapUs }: SignalShape & { readonly maxGapUs: number },
): number {
  if (Number.isNaN(next)) return Math.min(time + maxGapUs, Math.max(holdUntil, time) + 1)
  if (next - time <= maxGapUs) return Number.POSITIVE_INFINITY
  return stepped ? time + maxGapUs : time + 1
}

function firstGoodTime({ times, values }: PointColumns): number | null {
  const index = values.findIndex((value) => !Number.isNaN(value))
  return index < 0 ? null : times[index]!
}

function lastGoodTime({ times, values }: PointColumns): number | null {
  const index = values.findLastIndex((value) => !Number.isNaN(value))
  return index < 0 ? null : times[index]!
}

function withBreak(plot: PlotPoints, time: number, until: number): PlotPoints {
  return time < until ? { ...plot, points: withPoint(plot.points, time, Number.NaN) } : plot
}

/** Points with one more, unless there is one at its time. A point without a value is BAD. */
export function withPoint(points: PointColumns, time: number, value: number): PointColumns {
  const { times } = points
  const index = lowerBound(times, time)
  if (times[index] === time) return points
  const bad = Number.isNaN(value)
  const point = columnsOf([{ time, value, bad }])
  return concatColumns([sliceColumns(points, 0, index), point, sliceColumns(points, index, times.length)])
}
