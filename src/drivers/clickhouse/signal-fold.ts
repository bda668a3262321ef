import type { AggregateQuery, IntegralQuery } from '../../historian/contract.ts'
import { signalAggregates, takesSignal, WindowAggregator } from '../../series/aggregate.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import { SignalIntegrator } from '../../series/integrate.ts'
import type { Integrals } from '../../series/reads.ts'
import { WindowSignal } from '../../series/window-signal.ts'
import type { ZoneMap } from '../../series/zone-map.ts'

/** A good point. */
export interface SignalPoint {
  readonly time: number
  readonly value: number
}

/**
 * Takes what is known of a tag in time order: points before the windows, summaries or points of the windows, and
 * the next good point; gives what they come to.
 */
export interface SignalFold<Result> {
  /** The last points before the windows; good ones also where they are right at the start. */
  addBefore(points: PointColumns, good: SignalPoint | null): void
  addSummary(summary: ZoneMap): void
  addPoints(points: PointColumns): void
  addAfter(point: SignalPoint): void
  finish(): Result
}

export class AggregateFold implements SignalFold<AggregateColumns> {
  readonly #query: AggregateQuery
  readonly #windows: WindowAggregator
  readonly #signal: WindowSignal | null

  constructor(query: AggregateQuery) {
    const { edges, aggregates } = query
    this.#query = query
    this.#windows = new WindowAggregator(edges, aggregates, query.holdUntil)
    this.#signal = takesSignal(aggregates) ? new WindowSignal(edges, aggregates, query) : null
  }

  addBefore(points: PointColumns, good: SignalPoint | null): void {
    this.#windows.add(points)
    if (good !== null) this.#signal?.addPoint(good.time, good.value)
  }

  addSummary(summary: ZoneMap): void {
    // It lies in one window by how it was asked for; `takes` also closes the windows before it.
    if (this.#windows.takes(summary)) this.#windows.addSummary(summary)
    this.#signal?.addZoneMap(summary)
  }

  addPoints(points: PointColumns): void {
    this.#windows.add(points)
    this.#signal?.add(points)
  }

  addAfter({ time, value }: SignalPoint): void {
    this.#signal?.addPoint(time, value)
  }

  finish(): AggregateColumns {
    const { aggregates, stepped } = this.#query
    const ofPoints = this.#windows.finish()
    if (this.#signal === null) return ofPoints
    const ofSignal = signalAggregates(this.#signal.finish(), this.#windows.rises(), aggregates, stepped)
    return { ...ofPoints, ...ofSignal }
  }
}

export class IntegralFold implements SignalFold<Integrals> {
  readonly #signal: SignalIntegrator

  constructor({ starts, ends, ...shape }: IntegralQuery) {
    this.#signal = new SignalIntegrator(starts, ends, shape)
  }

  addBefore(_points: PointColumns, good: SignalPoint | null): void {
    if (good !== null) this.#signal.addPoint(good.time, good.value)
  }

  addSummary(summary: ZoneMap): void {
    this.#signal.addZoneMap(summary)
  }

  addPoints(points: PointColumns): void {
    this.#signal.add(points)
  }

  addAfter({ time, value }: SignalPoint): void {
    this.#signal.addPoint(time, value)
  }

  finish(): Integrals {
    return this.#signal.finish()
  }
}
