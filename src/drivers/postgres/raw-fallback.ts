import type { AggregateQuery, BoundingValues, CallContext, IntegralQuery } from '../../historian/contract.ts'
import { signalAggregates, WindowAggregator } from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { NO_POINTS, type PointColumns } from '../../series/columns.ts'
import { SignalIntegrator } from '../../series/integrate.ts'
import { isGood } from '../../series/interpolate.ts'
import type { Integrals } from '../../series/reads.ts'
import type { SignalFeeder } from '../../series/signal-feeder.ts'
import { WindowSignal } from '../../series/window-signal.ts'
import { instantFromUs } from '../../time/instant.ts'
import { sqlStateOf } from './errors.ts'
import type { Places } from './places.ts'
import { readBoundingValues, readPoints } from './point-reads.ts'
import { readRanges } from './ranges.ts'
import type { Reader } from './server.ts'

/*
 * PostgreSQL fails a statement whose arithmetic leaves the range of doubles, at either end of it, where Tidemark goes
 * on. Such values are rare and worked out from raw points.
 */

const PAGE_POINTS = 20_000
const NUMERIC_VALUE_OUT_OF_RANGE = '22003'

/** Whether a statement failed because a number became too large or too small. */
export function leavesDoubles(error: unknown): boolean {
  return sqlStateOf(error) === NUMERIC_VALUE_OUT_OF_RANGE
}

/** Aggregates of one query from its points; by a reader of one state of them, as they come in pages. */
export async function aggregatesFromPoints(
  reader: Reader,
  places: Places,
  query: AggregateQuery,
  names: readonly AggregateName[],
  context: CallContext,
): Promise<AggregateColumns> {
  const { tag, edges, ...shape } = query
  const from = edges[0]!
  const to = edges.at(-1)!
  const windows = new WindowAggregator(edges, names, shape.holdUntil)
  const signal = new WindowSignal(edges, names, shape)
  const beside = await goodBeside(reader, places, tag, from, to, context)
  const last = await readPoints(reader, places, [{ tag, find: 'before', at: instantFromUs(from) }], context)
  windows.add(before(beside))
  if (!Number.isNaN(last.times[0]!) && !isGood(last, 0)) windows.add(last)
  signal.add(before(beside))
  for await (const page of pages(reader, places, tag, from, to, context)) {
    windows.add(page)
    signal.add(page)
  }
  addAfter(signal, beside)
  const ofPoints = windows.finish()
  return { ...ofPoints, ...signalAggregates(signal.finish(), windows.rises(), names, shape.stepped) }
}

/** Integrals of one query from its points, likewise. */
export async function integralsFromPoints(
  reader: Reader,
  places: Places,
  query: IntegralQuery,
  context: CallContext,
): Promise<Integrals> {
  const { tag, starts, ends } = query
  const from = starts[0]!
  const to = ends.at(-1)!
  const signal = new SignalIntegrator(starts, ends, query)
  const beside = await goodBeside(reader, places, tag, from, to, context)
  signal.add(before(beside))
  for await (const page of pages(reader, places, tag, from, to, context)) signal.add(page)
  addAfter(signal, beside)
  return signal.finish()
}

/** The good points before a range and at or after its end. */
async function goodBeside(
  reader: Reader,
  places: Places,
  tag: string,
  from: number,
  to: number,
  context: CallContext,
): Promise<BoundingValues> {
  const times = Float64Array.of(from - 1, Math.max(from, to))
  const [beside] = await readBoundingValues(reader, places, [{ tag, times, use: 'both' }], context)
  return beside!
}

function before({ beforeTimes, beforeValues }: BoundingValues): PointColumns {
  if (Number.isNaN(beforeTimes[0]!)) return NO_POINTS
  return { times: beforeTimes.slice(0, 1), values: beforeValues.slice(0, 1), statuses: new Uint8Array(1) }
}

function addAfter(signal: SignalFeeder, { afterTimes, afterValues }: BoundingValues): void {
  if (!Number.isNaN(afterTimes[1]!)) signal.addPoint(afterTimes[1]!, afterValues[1]!)
}

async function* pages(
  reader: Reader,
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
    const [result] = await readRanges(reader, places, [range], context)
    yield result!.points
    if (!result!.more) return
    start = result!.points.times.at(-1)! + 1
  }
}
