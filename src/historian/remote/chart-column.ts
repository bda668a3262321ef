import { TidemarkError } from '../../errors/tidemark-error.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import type { PlotSampler, PlotSummary } from '../../series/plot.ts'

/** What a server says of the points of one column of a chart. Without good points their fields are of no meaning. */
export interface ChartColumn extends Required<Omit<PlotSummary, 'longestGap'>> {
  /** Of no meaning without BAD points. */
  readonly firstBadTime: number
  /** Of three good points the one between the others, where the server says it. */
  readonly middle?: { readonly time: number; readonly value: number }
}

/** Whether a column has three good points, and the one between the others is not known: then its points are needed. */
export function isMiddleUnknown(column: ChartColumn): boolean {
  return column.numGood === 3 && namedPoints(column).length < 3
}

/** Feeds a sampler with what is known of the next column, unless `isMiddleUnknown` says that it needs the points. */
export function addChartColumn(plot: PlotSampler, column: ChartColumn): void {
  const { count, numGood, firstBadTime } = column
  const numBad = count - numGood
  if (numBad > 0) plot.add(badPoints(firstBadTime, numGood > 3 ? 1 : Math.min(numBad, 2)))
  if (numGood === 0) return
  if (numGood <= 3) {
    plot.add(goodPoints(namedPoints(column)))
    return
  }
  // The first BAD point was added by itself.
  const summary: PlotSummary = { ...column, count: numGood + Math.max(0, numBad - 1) }
  if (!plot.addSummary(summary, column.lastGoodTime))
    throw new TidemarkError('BUG', { what: 'a plot takes the summary of a whole column' })
}

/** The good points that the server named, in time order: all of them where there are no more than three. */
export function namedPoints(column: ChartColumn): readonly (readonly [time: number, value: number])[] {
  const { firstGoodTime, first, minTime, min, maxTime, max, lastGoodTime, last, numGood, middle } = column
  const named = new Map([
    [firstGoodTime, first],
    [minTime, min],
    [maxTime, max],
    [lastGoodTime, last],
  ])
  if (numGood === 3 && middle !== undefined) named.set(middle.time, middle.value)
  return [...named].sort((a, b) => a[0] - b[0])
}

/** Good points of these times and values. */
export function goodPoints(rows: readonly (readonly [time: number, value: number])[]): PointColumns {
  const points = makeColumns(rows.length)
  rows.forEach(([time, value], i) => {
    points.times[i] = time
    points.values[i] = value
  })
  return points
}

/** The first BAD point of a column, as often as it is to count. */
export function badPoints(time: number, count: number): PointColumns {
  const points = makeColumns(count)
  points.times.fill(time)
  points.statuses.fill(STATUS_BAD)
  return points
}
