import type {
  AggregateQuery,
  CallContext,
  Capabilities,
  GapsQuery,
  IntegralQuery,
  Integrals,
  InterpolationQuery,
  PlotPoints,
  PlotQuery,
} from '../../src/historian/contract.ts'
import { WindowAggregator } from '../../src/series/aggregate.ts'
import { type AggregateColumns, FIRST_AGGREGATE_NAMES } from '../../src/series/aggregate-names.ts'
import { lowerBound, type PointColumns, sliceColumns } from '../../src/series/columns.ts'
import { GapFinder, type GapPage } from '../../src/series/gaps.ts'
import { SignalIntegrator, timeAverages } from '../../src/series/integrate.ts'
import { interpolate } from '../../src/series/interpolate.ts'
import { PlotSampler } from '../../src/series/plot.ts'
import { MemoryHistorian } from './memory-historian.ts'
import { EVER } from './points.ts'

/** More points than any tag in memory has. */
const ALL_POINTS = 10_000_000

/**
 * A historian in memory that computes every aggregate, interpolated values and integrals itself, from all points of the
 * tag.
 */
export class PushDownHistorian extends MemoryHistorian {
  override readonly capabilities: Capabilities

  constructor(name: string) {
    super(name)
    this.capabilities = {
      ...new MemoryHistorian(name).capabilities,
      aggregates: FIRST_AGGREGATE_NAMES,
      interpolation: true,
      integrals: true,
      plots: true,
      gaps: true,
      signalGaps: true,
      comparisons: false,
    }
  }

  async readAggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    const all: AggregateColumns[] = []
    for (const { tag, edges, aggregates, ...shape } of queries) {
      const points = await this.#points(tag, context)
      const windows = new WindowAggregator(edges, aggregates)
      windows.add(points)
      const found = windows.finish()
      if (!aggregates.includes('timeAvg')) all.push(found)
      else {
        const signal = new SignalIntegrator(edges.subarray(0, -1), edges.subarray(1), shape)
        signal.add(points)
        all.push({ ...found, timeAvg: timeAverages(signal.finish()) })
      }
    }
    return all
  }

  async readInterpolated(
    queries: readonly InterpolationQuery[],
    context: CallContext,
  ): Promise<readonly Float64Array[]> {
    const all: Float64Array[] = []
    for (const { tag, times, ...shape } of queries) {
      const [boundingValues] = await super.readBoundingValues([tag], times, context)
      all.push(interpolate(boundingValues!, times, shape))
    }
    return all
  }

  async readIntegrals(
    queries: readonly IntegralQuery[],
    context: CallContext,
  ): Promise<readonly Integrals[]> {
    const all: Integrals[] = []
    for (const { tag, starts, ends, ...shape } of queries) {
      const signal = new SignalIntegrator(starts, ends, shape)
      signal.add(await this.#points(tag, context))
      all.push(signal.finish())
    }
    return all
  }

  async readPlots(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    const all: PlotPoints[] = []
    for (const { tag, edges, ...gaps } of queries) {
      const plot = new PlotSampler(edges, { gaps })
      plot.add(await this.#points(tag, context))
      all.push(plot.finish())
    }
    return all
  }

  async readGaps(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    const all: GapPage[] = []
    for (const { tag, ...search } of queries) {
      const finder = new GapFinder(search)
      const points = await this.#points(tag, context)
      const [start, end] = [lowerBound(points.times, search.from), lowerBound(points.times, search.to)]
      finder.add(sliceColumns(points, start, end))
      all.push(finder.finish())
    }
    return all
  }

  async #points(tag: string, context: CallContext): Promise<PointColumns> {
    const [all] = await super.readRanges([{ tag, ...EVER, order: 'asc', limit: ALL_POINTS }], context)
    return all!.points
  }
}
