import type { AggregateQuery, CallContext, IntegralQuery } from '../../historian/contract.ts'
import { WindowAggregator } from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import { SignalIntegrator } from '../../series/integrate.ts'
import type { Integrals } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { sqlStateOf } from './errors.ts'
import type { Places } from './places.ts'
import { readNeighbours } from './point-reads.ts'
import { readRanges } from './ranges.ts'
import type { Server } from './server.ts'

/*
 * PostgreSQL fails a statement whose arithmetic leaves the range of doubles, at either end of it, where Tidemark goes on.
 * Such values are rare and worked out from raw points.
 */

const PAGE_POINTS = 20_000
const NUMERIC_VALUE_OUT_OF_RANGE = '22003'

/** Whether a statement failed because a number became too large or too small. */
export function leavesDoubles(error: unknown): boolean {
  return sqlStateOf(error) === NUMERIC_VALUE_OUT_OF_RANGE
}

/** Aggregates, other than timeAvg, of one query from its points. */
export async function aggregatesFromPoints(
  server: Server,
  places: Places,
  { tag, edges }: AggregateQuery,
  names: readonly AggregateName[],
  context: CallContext,
): Promise<AggregateColumns> {
  const windows = new WindowAggregator(edges, names)
  for await (const page of pages(server, places, tag, edges[0]!, edges.at(-1)!, context)) windows.add(page)
  return windows.finish()
}

/** Integrals of one query from its points. */
export async function integralsFromPoints(
  server: Server,
  places: Places,
  query: IntegralQuery,
  context: CallContext,
): Promise<Integrals> {
  const { tag, starts, ends } = query
  const from = starts[0]!
  const to = ends.at(-1)!
  const signal = new SignalIntegrator(starts, ends, query)
  const times = from < to ? Float64Array.of(from, to) : Float64Array.of(from)
  const [beside] = await readNeighbours(server, places, [{ tag, times, use: 'both' }], context)
  const { beforeTimes, beforeValues, afterTimes, afterValues } = beside!
  if (!Number.isNaN(beforeTimes[0]!)) signal.addPoint(beforeTimes[0]!, beforeValues[0]!)
  for await (const page of pages(server, places, tag, from, to, context)) signal.add(page)
  if (!Number.isNaN(afterTimes.at(-1)!)) signal.addPoint(afterTimes.at(-1)!, afterValues.at(-1)!)
  return signal.finish()
}

async function* pages(
  server: Server,
  places: Places,
  tag: string,
  from: number,
  to: number,
  context: CallContext,
): AsyncGenerator<PointColumns> {
  for (let start = from; start < to; ) {
    const range = {
      tag,
      from: instantFromUs(start),
      to: instantFromUs(to),
      order: 'asc',
      limit: PAGE_POINTS,
    } as const
    const [result] = await readRanges(server, places, [range], context)
    yield result!.points
    if (!result!.more) return
    start = result!.points.times.at(-1)! + 1
  }
}
