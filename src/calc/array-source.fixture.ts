import { WindowAggregator } from '../series/aggregate.ts'
import { AGGREGATE_NAMES, type AggregateColumns, type AggregateName } from '../series/aggregate-names.ts'
import {
  lowerBound,
  makeColumns,
  type PointColumns,
  reverseColumns,
  STATUS_BAD,
  sliceColumns,
  upperBound,
} from '../series/columns.ts'
import { SignalIntegrator, timeAverages } from '../series/integrate.ts'
import { goodPoints, interpolate } from '../series/interpolate.ts'
import type { FindPoint, Integrals, Neighbours, RangeResult } from '../series/reads.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import type { Ledger, PlannedRead, RawRange, SeriesSource, SinglePoint, StoredTag } from './series.ts'

export type Row = readonly [time: number, value: number, bad?: boolean]

export function columnsOf(rows: readonly Row[]): PointColumns {
  const columns = makeColumns(rows.length)
  rows.forEach(([time, value, bad], i) => {
    columns.times[i] = time
    columns.values[i] = value
    if (bad) columns.statuses[i] = STATUS_BAD
  })
  return columns
}

/** Stored tags in arrays, as one call sees them: equal reads cross once, and what crosses is counted. */
export class ArraySource implements SeriesSource {
  /** Points that crossed the historian contract. */
  crossed = 0
  readonly #tags: ReadonlyMap<string, PointColumns>
  readonly #made = new Map<string, Promise<unknown>>()
  readonly #ids = new WeakMap<Float64Array, number>()
  #nextId = 0

  constructor(tags: ReadonlyMap<string, PointColumns>) {
    this.#tags = tags
  }

  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#once(`point ${tag.tag} ${find} ${at}`, () => {
      const points = this.#points(tag)
      const index = {
        before: lowerBound(points.times, at) - 1,
        'before-or-at': upperBound(points.times, at) - 1,
        after: upperBound(points.times, at),
        'after-or-at': lowerBound(points.times, at),
      }[find]
      this.crossed++
      const time = points.times[index]
      if (time === undefined) return null
      const bad = points.statuses[index] === STATUS_BAD
      return { time: instantFromUs(time), value: points.values[index]!, bad }
    })
  }

  range(tag: StoredTag, { from, to, order, limit }: RawRange): Promise<RangeResult> {
    return this.#once(`range ${tag.tag} ${from} ${to} ${order} ${limit}`, () => {
      const all = this.#within(tag, from, to)
      const points = order === 'asc' ? all : reverseColumns(all)
      const given = sliceColumns(points, 0, limit)
      this.crossed += given.times.length
      return { points: given, more: points.times.length > limit }
    })
  }

  neighbours(tag: StoredTag, times: Float64Array): Promise<Neighbours> {
    return this.#once(`neighbours ${tag.tag} ${this.#id(times)}`, () => {
      const found = this.#neighboursOf(tag, times)
      for (const side of [found.beforeTimes, found.afterTimes]) {
        this.crossed += side.filter((time) => !Number.isNaN(time)).length
      }
      return found
    })
  }

  interpolated(tag: StoredTag, times: Float64Array, holdUntil: Instant): Promise<Float64Array> {
    return this.#once(`interpolated ${tag.tag} ${tag.stepped} ${this.#id(times)}`, () => {
      this.crossed += times.length
      return interpolate(this.#neighboursOf(tag, times), times, { stepped: tag.stepped, holdUntil })
    })
  }

  integrals(
    tag: StoredTag,
    starts: Float64Array,
    ends: Float64Array,
    holdUntil: Instant,
  ): Promise<Integrals> {
    return this.#once(`integrals ${tag.tag} ${tag.stepped} ${this.#id(starts)} ${this.#id(ends)}`, () => {
      this.crossed += starts.length
      return this.#integrate(tag, starts, ends, holdUntil)
    })
  }

  aggregates(
    tag: StoredTag,
    edges: Float64Array,
    names: readonly AggregateName[],
    holdUntil: Instant,
  ): Promise<AggregateColumns> {
    return this.#once(`aggregates ${tag.tag} ${tag.stepped} ${this.#id(edges)} ${names}`, () => {
      this.crossed += edges.length - 1
      const aggregator = new WindowAggregator(edges, names)
      aggregator.add(this.#points(tag))
      if (!names.includes('timeAvg')) return aggregator.finish()
      const integrals = this.#integrate(tag, edges.subarray(0, -1), edges.subarray(1), holdUntil)
      return { ...aggregator.finish(), timeAvg: timeAverages(integrals) }
    })
  }

  countWithin(tag: string, from: Instant, to: Instant): number {
    return this.#within({ tag }, from, to).times.length
  }

  #integrate(tag: StoredTag, starts: Float64Array, ends: Float64Array, holdUntil: Instant): Integrals {
    const integrator = new SignalIntegrator(starts, ends, { stepped: tag.stepped, holdUntil })
    integrator.add(this.#points(tag))
    return integrator.finish()
  }

  #neighboursOf(tag: StoredTag, times: Float64Array): Neighbours {
    const { times: t, values: v } = goodPoints(this.#points(tag))
    const before = Array.from(times, (at) => upperBound(t, at) - 1)
    const after = Array.from(times, (at) => lowerBound(t, at))
    return {
      beforeTimes: Float64Array.from(before, (i) => t[i] ?? Number.NaN),
      beforeValues: Float64Array.from(before, (i) => v[i] ?? Number.NaN),
      afterTimes: Float64Array.from(after, (i) => t[i] ?? Number.NaN),
      afterValues: Float64Array.from(after, (i) => v[i] ?? Number.NaN),
    }
  }

  #points({ tag }: { readonly tag: string }): PointColumns {
    return this.#tags.get(tag) ?? columnsOf([])
  }

  #within(tag: { readonly tag: string }, from: number, to: number): PointColumns {
    const points = this.#points(tag)
    return sliceColumns(points, lowerBound(points.times, from), lowerBound(points.times, to))
  }

  async #once<Result>(key: string, make: () => Result): Promise<Result> {
    let promise = this.#made.get(key)
    if (promise === undefined) {
      promise = Promise.resolve().then(make)
      this.#made.set(key, promise)
    }
    return promise as Promise<Result>
  }

  #id(times: Float64Array): number {
    let id = this.#ids.get(times)
    if (id === undefined) {
      id = this.#nextId++
      this.#ids.set(times, id)
    }
    return id
  }
}

/** Adds up what was planned as a call's ledger does. */
export class CostLedger implements Ledger {
  readonly reads = new Map<string, PlannedRead>()

  add(read: PlannedRead): void {
    this.reads.set(`${read.historian}/${read.tag} ${read.key}`, read)
  }

  cost(source: ArraySource): number {
    let cost = 0
    for (const { tag, atMost, stored } of this.reads.values()) {
      const bound =
        stored === null
          ? Number.POSITIVE_INFINITY
          : source.countWithin(tag, stored.from, stored.to) + stored.extra
      cost += Math.min(atMost, bound)
    }
    return cost
  }
}

/** A tag of the historian `h`, with all push-downs or none. */
export function storedTag(tag: string, stepped: boolean, pushDowns: 'all' | 'none' | 'no median'): StoredTag {
  return {
    historian: 'h',
    tag,
    stepped,
    pushDowns: {
      aggregates:
        pushDowns === 'none'
          ? []
          : AGGREGATE_NAMES.filter((name) => pushDowns === 'all' || name !== 'median'),
      interpolation: pushDowns !== 'none',
      integrals: pushDowns !== 'none',
    },
  }
}
