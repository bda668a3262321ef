import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { AggregateQuery, IntegralQuery } from '../../historian/contract.ts'
import { signalAggregates, takesSignal, WindowAggregator } from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { SignalIntegrator } from '../../series/integrate.ts'
import type { Integrals } from '../../series/reads.ts'
import type { SignalFeeder } from '../../series/signal-feeder.ts'
import { WindowSignal } from '../../series/window-signal.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import type { CellSums, GoodCell, RunCell } from './segments.ts'

/*
 * Cells that the server summed up, joined by the code that joins points everywhere.
 */

/**
 * Aggregates of points in their order and of the signal; others are left out.
 * @param found cells that each lie in one window, and on one side of `holdUntil`
 */
export function aggregatesFromCells(
  { edges, ...shape }: AggregateQuery,
  names: readonly AggregateName[],
  { good, runs, before, after }: CellSums,
): AggregateColumns {
  const windows = new WindowAggregator(edges, names, shape.holdUntil)
  windows.add(before)
  for (const cell of cellsOf(good, runs)) {
    const summary = summaryOf(good.get(cell), runs.get(cell))
    if (!windows.takes(summary)) throw new TidemarkError('BUG', { what: 'a cell lies in one window' })
    windows.addSummary(summary)
  }
  const ofPoints = windows.finish()
  if (!takesSignal(names)) return ofPoints
  const signal = new WindowSignal(edges, names, shape)
  feed(signal, { good, before, after })
  return { ...ofPoints, ...signalAggregates(signal.finish(), windows.rises(), names, shape.stepped) }
}

/** @param found cells that each lie in one span or between two */
export function integralsFromCells({ starts, ends, ...shape }: IntegralQuery, found: CellSums): Integrals {
  const signal = new SignalIntegrator(starts, ends, shape)
  feed(signal, found)
  return signal.finish()
}

function feed(signal: SignalFeeder, { good, before, after }: Omit<CellSums, 'runs'>): void {
  signal.add(before)
  for (const cell of good.values()) signal.addSums(cell)
  if (after !== null) signal.addPoint(after.time, after.value)
}

/** Cells that hold points, ascending: where those of any status were asked for, the good ones are among them. */
function cellsOf(good: ReadonlyMap<number, GoodCell>, runs: ReadonlyMap<number, RunCell>): Iterable<number> {
  return runs.size > 0 ? runs.keys() : good.keys()
}

/** What is taken by aggregates of points in their order; the rest of a summary is not. */
function summaryOf(good: GoodCell | undefined, run: RunCell | undefined): ZoneMap {
  const lastGoodTime = run === undefined || run.isLastGood ? (run ?? good)!.lastTime : Number.NaN
  return {
    ...NOT_TAKEN,
    numGood: good === undefined ? 0 : 1,
    firstTime: (run ?? good)!.firstTime,
    lastTime: (run ?? good)!.lastTime,
    lastGoodTime,
    goodTime: run?.goodUs ?? 0,
    first: good?.first ?? Number.NaN,
    last: good?.last ?? Number.NaN,
    transitions: good?.transitions ?? 0,
    increase: good?.rises ?? 0,
  }
}

const NOT_TAKEN = {
  count: Number.NaN,
  sum: Number.NaN,
  mean: Number.NaN,
  meanRest: Number.NaN,
  squares: Number.NaN,
  min: Number.NaN,
  max: Number.NaN,
  firstGoodTime: Number.NaN,
  linear: Number.NaN,
  stepped: Number.NaN,
}
