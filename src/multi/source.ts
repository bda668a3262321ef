import { contentKey } from '../calc/graph/need.ts'
import {
  type PointSource,
  pointOf,
  type RawRange,
  type SinglePoint,
  type StoredTag,
  shapeOf,
} from '../calc/graph/point-source.ts'
import { TagReads } from '../calc/graph/tag-reads.ts'
import { comparedName } from '../calc/leaves/stored-cost.ts'
import { isUnavailable, TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian, PointQuery } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { Semaphore } from '../scheduling/semaphore.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { PointColumns } from '../series/columns.ts'
import type { GapPage, GapSearch } from '../series/gaps.ts'
import type { BoundingValues, FindPoint, Integrals, PlotPoints, RangeResult } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import { batcher } from './batcher.ts'
import { ByTag } from './by-tag.ts'

/** What crossed the historian contract in a call, for metrics and for the proof that estimates hold. */
export interface ReadStatistics {
  points: number
  historianCalls: number
}

/** Once a call has fetched so many points, pages of streamed ranges leave the cache as soon as they were handed out. */
export const KEPT_POINTS = 1_000_000

/**
 * Reads that a call makes once wherever they are wanted again. Of a call that plans more than these, each further one
 * is counted, and made, as often as it is wanted, but for equal ones that are on their way at the same time.
 */
export const KEPT_READS = 32_768

/**
 * Method calls for bounding values at different times that a historian has at the same time from one call: labels that
 * share no times would fill its queue.
 */
const PARALLEL_TIMES = 8

/** Budget of fetched points: estimates may be coarse, this ends a call that fetches far more than estimated. */
export interface FetchBudget {
  readonly points: number
  /** Called once when the budget is used up; ends the call as a whole. */
  readonly onExhausted: (error: TidemarkError) => void
}

/**
 * The reads of one call. Equal reads are made once: the second caller gets the promise of the first; ranges that
 * overlap fetch only what is missing. Reads that are requested in the same tick of the event loop travel to their
 * historian in one method call, so that a hundred labels cost it one round trip for each kind of read.
 */
export class CallSource implements PointSource {
  readonly statistics: ReadStatistics = { points: 0, historianCalls: 0 }
  /** Whether all that is read is kept for labels that want it again, or KEPT_READS of it. */
  keepsAll = true
  #kept = 0
  readonly #historians: HistorianView
  readonly #context: CallContext
  readonly #budget: FetchBudget | null
  readonly #readers = new Map<string, HistorianReader>()
  readonly #made = new ByTag<Promise<unknown>>()
  /** By which of its points: all (''), or those that decide comparisons. */
  readonly #tags = new ByTag<TagReads>()

  constructor(historians: HistorianView, context: CallContext, budget: FetchBudget | null = null) {
    this.#historians = historians
    this.#context = context
    this.#budget = budget
  }

  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#once(tag, `point ${find} ${at}`, ({ points }) => {
      const known = this.#tags.get(tag, '')?.point(find, at) ?? null
      return known === null ? points({ tag: tag.tag, find, at }) : Promise.resolve(known)
    })
  }

  range(tag: StoredTag, range: RawRange): Promise<RangeResult> {
    const { compared } = tag
    // What decides a comparison over a range decides it over a part of the range, too.
    const reads = this.#reads(tag, compared === undefined ? '' : comparedName(compared))
    return this.#once(tag, rangeName(tag, range), ({ ranges }) =>
      reads.range(range, (missing) =>
        ranges({ tag: tag.tag, ...missing, ...(compared !== undefined && { compared }) }),
      ),
    )
  }

  intact(tag: StoredTag, range: RawRange): Promise<RangeResult> {
    return this.#once(tag, `intact ${rangeName(tag, range)}`, ({ ranges }) =>
      ranges({ tag: tag.tag, ...range, partial: true }),
    )
  }

  page(tag: StoredTag, range: RawRange): Promise<RangeResult> {
    const page = this.range(tag, range)
    // Callers that stream the same range side by side still share this page while it is on its way.
    if (this.statistics.points > KEPT_POINTS) this.#forget(tag, rangeName(tag, range), page)
    return page
  }

  boundingValues(tag: StoredTag, times: Float64Array): Promise<BoundingValues> {
    return this.#once(tag, `boundingValues ${contentKey(times)}`, (reader) => {
      const known = this.#tags.get(tag, '')?.boundingValues(times) ?? null
      return known === null ? reader.boundingValuesAt(times)(tag.tag) : Promise.resolve(known)
    })
  }

  interpolated(tag: StoredTag, times: Float64Array, holdUntil: Instant): Promise<Float64Array> {
    return this.#once(
      tag,
      `interpolated ${contentKey(times)} ${signalName(tag, holdUntil)}`,
      ({ interpolations }) => interpolations({ tag: tag.tag, times, ...shapeOf(tag, holdUntil) }),
    )
  }

  integrals(
    tag: StoredTag,
    starts: Float64Array,
    ends: Float64Array,
    holdUntil: Instant,
  ): Promise<Integrals> {
    return this.#once(
      tag,
      `integrals ${contentKey(starts)} ${contentKey(ends)} ${signalName(tag, holdUntil)}`,
      ({ integrals }) => integrals({ tag: tag.tag, starts, ends, ...shapeOf(tag, holdUntil) }),
    )
  }

  aggregates(
    tag: StoredTag,
    edges: Float64Array,
    names: readonly AggregateName[],
    holdUntil: Instant,
  ): Promise<AggregateColumns> {
    return this.#once(
      tag,
      `aggregates ${contentKey(edges)} ${names} ${signalName(tag, holdUntil)}`,
      ({ aggregates }) => aggregates({ tag: tag.tag, edges, aggregates: names, ...shapeOf(tag, holdUntil) }),
    )
  }

  plot(tag: StoredTag, edges: Float64Array): Promise<PlotPoints> {
    const { stepped, maxGapUs } = tag
    const query =
      maxGapUs === undefined ? { tag: tag.tag, edges, stepped } : { tag: tag.tag, edges, stepped, maxGapUs }
    const signal = maxGapUs === undefined ? '' : `${stepped} ${maxGapUs}`
    return this.#once(tag, `plot ${contentKey(edges)} ${signal}`, ({ plots }) => plots(query))
  }

  gaps(tag: StoredTag, search: GapSearch): Promise<GapPage> {
    const { from, to, longerThanUs, limit } = search
    return this.#once(tag, `gaps ${from} ${to} ${longerThanUs} ${limit}`, ({ gaps }) =>
      gaps({ tag: tag.tag, ...search }),
    )
  }

  #once<Result>(
    tag: StoredTag,
    read: string,
    make: (reader: HistorianReader) => Promise<Result>,
  ): Promise<Result> {
    const made = this.#made.get(tag, read)
    if (made !== undefined) return made as Promise<Result>
    const promise = make(this.#reader(tag))
    this.#made.set(tag, read, promise)
    if (this.#kept++ >= KEPT_READS && !this.keepsAll) this.#forget(tag, read, promise)
    return promise
  }

  /** Once it is settled. */
  #forget(tag: StoredTag, read: string, made: Promise<unknown>): void {
    const forget = () => this.#made.delete(tag, read)
    made.then(forget, forget)
  }

  #reads(tag: StoredTag, points: string): TagReads {
    let reads = this.#tags.get(tag, points)
    if (reads === undefined) {
      reads = new TagReads(() => this.statistics.points <= KEPT_POINTS)
      this.#tags.set(tag, points, reads)
    }
    return reads
  }

  #reader(tag: StoredTag): HistorianReader {
    let reader = this.#readers.get(tag.historian)
    if (reader === undefined) {
      const historian = this.#historians.find(tag.historian)
      if (historian === null)
        throw new TidemarkError('HISTORIAN_NOT_FOUND', { historian: tag.historian, tag: tag.tag })
      reader = readerOf(historian, this.#context, (points) => this.#count(points))
      this.#readers.set(tag.historian, reader)
    }
    return reader
  }

  #count(points: number): void {
    this.statistics.points += points
    this.statistics.historianCalls++
    const budget = this.#budget
    if (budget === null || this.statistics.points <= budget.points) return
    const error = new TidemarkError('LIMIT_FETCHED_POINTS', { limit: budget.points })
    budget.onExhausted(error)
    throw error
  }
}

function rangeName({ compared }: StoredTag, { from, to, order, limit }: RawRange): string {
  const name = `range ${from} ${to} ${order} ${limit}`
  return compared === undefined ? name : `${name} ${comparedName(compared)}`
}

type ReadMethod<Query, Result> = (
  queries: readonly Query[],
  context: CallContext,
) => Promise<readonly Result[]>

type HistorianReader = ReturnType<typeof readerOf>

/** The batchers of one historian. @param count called with the points that each method call returned; may throw */
function readerOf(historian: Historian, context: CallContext, count: (points: number) => void) {
  /** A batcher of a method that answers each query with one result. @param points how many a result counts as */
  const reads = <Query, Result>(
    methodOf: () => ReadMethod<Query, Result> | undefined,
    points: (result: Result, query: Query) => number,
  ) =>
    batcher<Query, Result>(async (queries) => {
      const method = methodOf()
      if (method === undefined) {
        const what = `historian ${historian.name} declares a push-down that it does not have`
        throw new TidemarkError('BUG', { what })
      }
      const results = await method.call(historian, queries, context)
      let sum = 0
      for (let i = 0; i < queries.length; i++) sum += points(results[i]!, queries[i]!)
      count(sum)
      return results
    })
  const readPoints = async (queries: readonly PointQuery[]) => {
    const found = await historian.readPoints(queries, context)
    return queries.map((_, i) => pointAt(found, i))
  }
  // Those that wait would wait for the historian's time limit again and again, beyond the call's deadline.
  const places = new Semaphore(PARALLEL_TIMES, isUnavailable)
  const boundingValues = new Map<number, (tag: string) => Promise<BoundingValues>>()
  return {
    points: reads(
      () => readPoints,
      () => 1,
    ),
    ranges: reads(
      () => historian.readRanges,
      ({ points }) => points.times.length,
    ),
    interpolations: reads(
      () => historian.readInterpolated,
      (values) => values.length,
    ),
    integrals: reads(
      () => historian.readIntegrals,
      ({ integrals }) => integrals.length,
    ),
    aggregates: reads(() => historian.readAggregates, countWindows),
    plots: reads(() => historian.readPlots, countWindows),
    gaps: reads(
      () => historian.readGaps,
      ({ from }) => 2 * from.length,
    ),
    /** Bounding points of many tags at the same times are one read; at other times they are another. */
    boundingValuesAt: (times: Float64Array) =>
      boundingValues.getOrInsertComputed(contentKey(times), () => {
        const read = (tags: readonly string[]) =>
          places.run(async () => historian.readBoundingValues(tags, times, context))
        return reads(() => read, countBoundingValues)
      }),
  }
}

/** A tag may be read linear and with step interpolation in the same call. */
function signalName(tag: StoredTag, holdUntil: Instant): string {
  return `${tag.stepped ? 'stepped' : 'linear'} ${holdUntil} ${tag.maxGapUs ?? ''}`
}

/** The point with an index, as the historian contract gives it; `null` where there is none. */
export function pointAt(points: PointColumns, index: number): SinglePoint | null {
  return Number.isNaN(points.times[index]!) ? null : pointOf(points, index)
}

function countWindows(_: unknown, { edges }: { readonly edges: Float64Array }): number {
  return edges.length - 1
}

function countBoundingValues(boundingValues: BoundingValues): number {
  let count = 0
  for (let i = 0; i < boundingValues.beforeTimes.length; i++) {
    if (!Number.isNaN(boundingValues.beforeTimes[i]!)) count++
    if (!Number.isNaN(boundingValues.afterTimes[i]!)) count++
  }
  return count
}
