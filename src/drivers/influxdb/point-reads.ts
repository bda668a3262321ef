import type { CallContext, PointQuery, RangeQuery, RangeResult } from '../../historian/contract.ts'
import { makeColumns, NO_POINTS, type PointColumns } from '../../series/columns.ts'
import { ColumnsGrower } from './columns-grower.ts'
import type { Layout } from './layout.ts'
import { runScans, type ScanOptions, type ScanSource } from './scan.ts'

/** Every point is between these, with room to subtract and add a microsecond. */
export const BEGINNING = -9_100_000_000_000_000
export const END = 9_000_000_000_000_000

/** One raw point for each query; see Historian.readPoints. */
export async function readPoints(
  source: ScanSource,
  layout: Layout,
  queries: readonly PointQuery[],
  context: CallContext,
): Promise<PointColumns> {
  const columns = makeColumns(queries.length)
  columns.times.fill(Number.NaN)
  columns.values.fill(Number.NaN)
  const scans = queries.flatMap(({ tag, find, at }, index): ScanOptions[] => {
    const series = layout.parse(tag)
    if (series === null) return []
    const isBefore = find === 'before' || find === 'before-or-at'
    // Whole microseconds: "at or before" is "before the next one".
    const edge = find === 'before-or-at' || find === 'after' ? at + 1 : at
    return [
      {
        series,
        from: isBefore ? BEGINNING : edge,
        to: isBefore ? edge : END,
        order: isBefore ? 'desc' : 'asc',
        wanted: 1,
        goodOnly: false,
        isNear: true,
        sink: (time, value, status) => {
          columns.times[index] = time
          columns.values[index] = value
          columns.statuses[index] = status
        },
      },
    ]
  })
  await runScans(source, scans, context)
  return columns
}

/** The raw points of each range; see Historian.readRanges. */
export async function readRanges(
  source: ScanSource,
  layout: Layout,
  queries: readonly RangeQuery[],
  context: CallContext,
): Promise<readonly RangeResult[]> {
  const found: (ColumnsGrower | null)[] = []
  const scans = queries.flatMap(({ tag, from, to, order, limit }): ScanOptions[] => {
    const series = layout.parse(tag)
    const grower = series === null ? null : new ColumnsGrower()
    found.push(grower)
    if (series === null) return []
    const sink = (time: number, value: number, status: 0 | 1) => grower!.push(time, value, status)
    // One more than asked for shows whether there is more.
    return [{ series, from, to, order, wanted: limit + 1, goodOnly: false, isNear: false, sink }]
  })
  await runScans(source, scans, context)
  return queries.map(({ limit }, index) => {
    const grower = found[index]!
    if (grower === null) return { points: NO_POINTS, more: false }
    return { points: grower.columns(limit), more: grower.length > limit }
  })
}
