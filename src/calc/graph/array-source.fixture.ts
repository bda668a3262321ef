import { signalAggregates, WindowAggregator } from '../../series/aggregate.ts'
import { AGGREGATE_NAMES, type AggregateColumns, type AggregateName } from '../../series/aggregate-names.ts'
import {
  lowerBound,
  makeColumns,
  type PointColumns,
  reverseColumns,
  STATUS_BAD,
  sliceColumns,
  upperBound,
} from '../../series/columns.ts'
import { GapFinder, type GapPage, type GapSearch } from '../../series/gaps.ts'
import { SignalIntegrator } from '../../series/integrate.ts'
import { goodPoints, interpolate } from '../../series/interpolate.ts'
import { PlotSampler } from '../../series/plot.ts'
import type { BoundingValues, FindPoint, Integrals, PlotPoints, RangeResult } from '../../series/reads.ts'
import { WindowSignal } from '../../series/window-signal.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { Steps } from './near.ts'
import { contentKey, type PlannedRead, type StoredCount } from './need.ts'
import { type PointSource, type RawRange, type SinglePoint, type StoredTag, shapeOf } from './point-source.ts'
import { TagReads } from './tag-reads.ts'

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
export class ArraySource implements PointSource {
  /** Points that crossed the historian contract. */
  crossed = 0
  readonly #tags: ReadonlyMap<string, PointColumns>
  readonly #made = new Map<string, Promise<unknown>>()
  readonly #tagReads = new Map<string, TagReads>()

  constructor(tags: ReadonlyMap<string, PointColumns>) {
    this.#tags = tags
  }

  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#once(`point ${tag.tag} ${find} ${at}`, async () => {
      const known = this.#reads(tag).point(find, at)
      if (known !== null) return known
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
    return this.#once(`range ${tag.tag} ${from} ${to} ${order} ${limit}`, () =>
      this.#reads(tag).range({ from, to, order, limit }, async (missing) => {
        const all = this.#within(tag, missing.from, missing.to)
        const points = order === 'asc' ? all : reverseColumns(all)
        const given = sliceColumns(points, 0, missing.limit)
        this.crossed += given.times.length
        return { points: given, more: points.times.length > missing.limit }
      }),
    )
  }

  #reads({ tag }: StoredTag): TagReads {
    return this.#tagReads.getOrInsertComputed(tag, () => new TagReads(() => true))
  }

  boundingValues(tag: StoredTag, times: Float64Array): Promise<BoundingValues> {
    return this.#once(`boundingValues ${tag.tag} ${contentKey(times)}`, async () => {
      const known = this.#reads(tag).boundingValues(times)
      if (known !== null) return known
      const found = this.#boundingValuesOf(tag, times)
      for (const side of [found.beforeTimes, found.afterTimes]) {
        this.crossed += side.filter((time) => !Number.isNaN(time)).length
      }
      return found
    })
  }

  interpolated(tag: StoredTag, times: Float64Array, holdUntil: Instant): Promise<Float64Array> {
    return this.#once(
      `interpolated ${tag.tag} ${tag.stepped} ${tag.maxGapUs ?? ''} ${contentKey(times)}`,
      () => {
        this.crossed += times.length
        return interpolate(this.#boundingValuesOf(tag, times), times, shapeOf(tag, holdUntil))
      },
    )
  }

  integrals(
    tag: StoredTag,
    starts: Float64Array,
    ends: Float64Array,
    holdUntil: Instant,
  ): Promise<Integrals> {
    return this.#once(
      `integrals ${tag.tag} ${tag.stepped} ${tag.maxGapUs ?? ''} ${contentKey(starts)} ${contentKey(ends)}`,
      () => {
        this.crossed += starts.length
        return this.#integrate(tag, starts, ends, holdUntil)
      },
    )
  }

  aggregates(
    tag: StoredTag,
    edges: Float64Array,
    names: readonly AggregateName[],
    holdUntil: Instant,
  ): Promise<AggregateColumns> {
    return this.#once(
      `aggregates ${tag.tag} ${tag.stepped} ${tag.maxGapUs ?? ''} ${contentKey(edges)} ${names}`,
      () => {
        this.crossed += edges.length - 1
        const aggregator = new WindowAggregator(edges, names, holdUntil)
        aggregator.add(this.#points(tag))
        const signal = new WindowSignal(edges, names, shapeOf(tag, holdUntil))
        signal.add(this.#points(tag))
        const ofPoints = aggregator.finish()
        return { ...ofPoints, ...signalAggregates(signal.finish(), aggregator.rises(), names, tag.stepped) }
      },
    )
  }

  plot(tag: StoredTag, edges: Float64Array): Promise<PlotPoints> {
    return this.#once(`plot ${tag.tag} ${tag.stepped} ${tag.maxGapUs} ${contentKey(edges)}`, () => {
      this.crossed += edges.length - 1
      const plot = new PlotSampler(edges, { gaps: tag })
      plot.add(this.#points(tag))
      return plot.finish()
    })
  }

  gaps(tag: StoredTag, search: GapSearch): Promise<GapPage> {
    return this.#once(`gaps ${tag.tag} ${JSON.stringify(search)}`, () => {
      const finder = new GapFinder(search)
      finder.add(this.#within(tag, search.from, search.to))
      const page = finder.finish()
      this.crossed += 2 * page.from.length
      return page
    })
  }

  countWithin(tag: string, from: number, to: number): number {
    return this.#within({ tag }, from, to).times.length
  }

  /** How far before an instant, or behind it, so many points lie; infinite where there are fewer. */
  reachOf(tag: string, at: Instant, points: number, isBack: boolean): number {
    const { times } = this.#points({ tag })
    const index = isBack ? lowerBound(times, at) - points : upperBound(times, at) + points - 1
    return Math.abs((times[index] ?? Number.POSITIVE_INFINITY) - at)
  }

  #integrate(tag: StoredTag, starts: Float64Array, ends: Float64Array, holdUntil: Instant): Integrals {
    const integrator = new SignalIntegrator(starts, ends, shapeOf(tag, holdUntil))
    integrator.add(this.#points(tag))
    return integrator.finish()
  }

  #boundingValuesOf(tag: StoredTag, times: Float64Array): BoundingValues {
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

  async #once<Result>(key: string, make: () => Result | Promise<Result>): Promise<Result> {
    let promise = this.#made.get(key)
    if (promise === undefined) {
      promise = Promise.resolve().then(make)
      this.#made.set(key, promise)
    }
    return promise as Promise<Result>
  }
}

/** What planned reads cost, equal ones once; those next to raw points where these are. */
export function costOf(reads: readonly PlannedRead[], source: ArraySource): number {
  let cost = 0
  for (const { tag, atMost, stored } of distinct(reads)) {
    const bound = stored === null ? Number.POSITIVE_INFINITY : pointsOf(tag, stored, source) + stored.extra
    cost += Math.min(atMost, bound)
  }
  return cost
}

/** The points of a read; of one that is moved to raw points, all between where it was and where it is moved to. */
function pointsOf(tag: string, { from, to, near }: StoredCount, source: ArraySource): number {
  if (near === undefined) return source.countWithin(tag, from, to)
  const moved = (steps: Steps | null, isBack: boolean): number => {
    if (steps === null || steps.points === 0) return 0
    const { mostUs, slackUs } = steps
    const reaches = [steps.from, steps.to].map((at) => source.reachOf(tag, at, steps.points, isBack))
    return Math.max(...reaches.map((reach) => Math.min(mostUs, reach + slackUs)))
  }
  const [back, ahead] = [moved(near.back, true), moved(near.ahead, false)]
  const { withinUs = 0, aheadUs = 0, moreUs = 0 } = near.window ?? {}
  const floor = Math.min(from, near.floor ?? Number.NEGATIVE_INFINITY)
  const start = Math.max(from - back - (back > withinUs ? moreUs : 0), floor)
  return source.countWithin(tag, start, to + ahead + (ahead > aheadUs ? moreUs : 0))
}

function distinct(reads: readonly PlannedRead[]): Iterable<PlannedRead> {
  return new Map(reads.map((read) => [`${read.historian}/${read.tag} ${read.key}`, read])).values()
}

const numbers = new Map<string, number>()

/** A tag of the historian `h`, with all push-downs or none. */
export function storedTag(tag: string, stepped: boolean, pushDowns: 'all' | 'none' | 'no median'): StoredTag {
  return {
    historian: 'h',
    tag,
    number: numbers.getOrInsert(tag, numbers.size),
    stepped,
    pushDowns: {
      aggregates:
        pushDowns === 'none'
          ? []
          : AGGREGATE_NAMES.filter((name) => pushDowns === 'all' || name !== 'median'),
      interpolation: pushDowns !== 'none',
      signalGaps: pushDowns !== 'none',
      comparisons: pushDowns !== 'none',
      integrals: pushDowns !== 'none',
      plots: pushDowns !== 'none',
      gaps: pushDowns !== 'none',
    },
  }
}
