import type { RawRange, SeriesSource, SinglePoint, StoredTag } from '../calc/series.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type {
  AggregateQuery,
  CallContext,
  Historian,
  IntegralQuery,
  InterpolationQuery,
  PointQuery,
  RangeQuery,
} from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { type PointColumns, STATUS_BAD } from '../series/columns.ts'
import type { FindPoint, Integrals, Neighbours, RangeResult } from '../series/reads.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import { AskedPoint, type PointAnswer } from './asked-point.ts'
import { Batch } from './batch.ts'

/** What crossed the historian contract in a call, for metrics and for the proof that estimates hold. */
export interface ReadStatistics {
  points: number
  historianCalls: number
}

/** Once a call has fetched so many points, pages of streamed ranges are forgotten as soon as they were handed out. */
const KEPT_POINTS = 1_000_000

/**
 * The reads of one call. Equal reads are made once: the second asker gets the promise of the first. Reads that are
 * asked for in the same turn of the event loop travel to their historian in one method call, so that a hundred labels
 * cost it one round trip per kind of read.
 */
export class CallSource implements SeriesSource {
  readonly statistics: ReadStatistics = { points: 0, historianCalls: 0 }
  readonly #historians: HistorianView
  readonly #context: CallContext
  readonly #lanes = new Map<string, HistorianLane>()
  readonly #made = new Map<string, Promise<unknown>>()
  readonly #gridIds = new WeakMap<Float64Array, number>()
  #nextGridId = 1

  constructor(historians: HistorianView, context: CallContext) {
    this.#historians = historians
    this.#context = context
  }

  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#lane(tag).askPoint(tag.tag, find, at).promise()
  }

  /**
   * Many points at once, without a promise for each. Resolves when all are answered, in their order; rejects never.
   * @param alone whether all are different, and nothing else in the call asks for points: they need not be found again then
   */
  async points(asks: readonly PointAsk[], alone: boolean): Promise<readonly PointAnswer[]> {
    const points = asks.map(({ tag, request: { find, at } }) => {
      const lane = this.#lane(tag)
      return alone ? lane.newPoint(tag.tag, find, at) : lane.askPoint(tag.tag, find, at)
    })
    let told: Promise<void> | null = null
    for (const point of points) {
      // Nearly all travel together.
      if (point.told === told) continue
      told = point.told
      await told
    }
    return points
  }

  range(tag: StoredTag, range: RawRange): Promise<RangeResult> {
    const { from, to, order, limit } = range
    return this.#once(tag, `range ${from} ${to} ${order} ${limit}`, () =>
      this.#lane(tag).ranges.add({ tag: tag.tag, from, to, order, limit }),
    )
  }

  page(tag: StoredTag, range: RawRange): Promise<RangeResult> {
    const { from, to, order, limit } = range
    const page = this.#once(tag, `range ${from} ${to} ${order} ${limit}`, () =>
      this.#lane(tag).ranges.add({ tag: tag.tag, from, to, order, limit }),
    )
    if (this.statistics.points > KEPT_POINTS) {
      // Series that stream the same range do so side by side and still share this page while it is on its way.
      const forget = () => this.#made.delete(this.#key(tag, `range ${from} ${to} ${order} ${limit}`))
      page.then(forget, forget)
    }
    return page
  }

  neighbours(tag: StoredTag, times: Float64Array): Promise<Neighbours> {
    return this.#once(tag, `neighbours ${this.#gridId(times)}`, () =>
      this.#lane(tag).neighboursAt(times).add(tag.tag),
    )
  }

  interpolated(tag: StoredTag, times: Float64Array, holdUntil: Instant): Promise<Float64Array> {
    return this.#once(tag, `interpolated ${this.#gridId(times)} ${shapeName(tag, holdUntil)}`, () =>
      this.#lane(tag).interpolations.add({ tag: tag.tag, times, stepped: tag.stepped, holdUntil }),
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
      `integrals ${this.#gridId(starts)} ${this.#gridId(ends)} ${shapeName(tag, holdUntil)}`,
      () => this.#lane(tag).integrals.add({ tag: tag.tag, starts, ends, stepped: tag.stepped, holdUntil }),
    )
  }

  aggregates(
    tag: StoredTag,
    edges: Float64Array,
    names: readonly AggregateName[],
    holdUntil: Instant,
  ): Promise<AggregateColumns> {
    return this.#once(tag, `aggregates ${this.#gridId(edges)} ${names} ${shapeName(tag, holdUntil)}`, () =>
      this.#lane(tag).aggregates.add({
        tag: tag.tag,
        edges,
        aggregates: names,
        stepped: tag.stepped,
        holdUntil,
      }),
    )
  }

  #once<Result>(tag: StoredTag, read: string, make: () => Promise<Result>): Promise<Result> {
    const key = this.#key(tag, read)
    const made = this.#made.get(key)
    if (made !== undefined) return made as Promise<Result>
    const promise = make()
    this.#made.set(key, promise)
    return promise
  }

  #key(tag: StoredTag, read: string): string {
    // A historian's name holds no slash, so the first one separates it from the tag, and no control character stands in
    // a tag's name, so the separator before the read is unambiguous too.
    return `${tag.historian}/${tag.tag}\0${read}`
  }

  #lane(tag: StoredTag): HistorianLane {
    let lane = this.#lanes.get(tag.historian)
    if (lane === undefined) {
      const historian = this.#historians.find(tag.historian)
      if (historian === null)
        throw new TidemarkError('HISTORIAN_NOT_FOUND', { historian: tag.historian, tag: tag.tag })
      lane = new HistorianLane(historian, this.#context, this.statistics)
      this.#lanes.set(tag.historian, lane)
    }
    return lane
  }

  #gridId(times: Float64Array): number {
    let id = this.#gridIds.get(times)
    if (id === undefined) {
      id = this.#nextGridId++
      this.#gridIds.set(times, id)
    }
    return id
  }
}

/** The batches that wait for one historian. */
class HistorianLane {
  /** The first point asked of each tag, and most often the only one: known by what it is, without a name made up for it. */
  readonly #firstPoints = new Map<string, AskedPoint>()
  readonly #points: Batch<PointQuery, SinglePoint | null>
  readonly ranges: Batch<RangeQuery, RangeResult>
  readonly interpolations: Batch<InterpolationQuery, Float64Array>
  readonly integrals: Batch<IntegralQuery, Integrals>
  readonly aggregates: Batch<AggregateQuery, AggregateColumns>
  readonly #neighbours = new Map<Float64Array, Batch<string, Neighbours>>()
  readonly #historian: Historian
  readonly #context: CallContext
  readonly #statistics: ReadStatistics

  constructor(historian: Historian, context: CallContext, statistics: ReadStatistics) {
    this.#historian = historian
    this.#context = context
    this.#statistics = statistics
    this.#points = new Batch(async (queries) => {
      const found = await historian.readPoints(queries, context)
      this.#count(queries.length)
      return queries.map((_, index) => pointAt(found, index))
    })
    this.ranges = new Batch(async (queries) => {
      const results = await historian.readRanges(queries, context)
      this.#count(results.reduce((sum, result) => sum + result.points.times.length, 0))
      return results
    })
    this.interpolations = new Batch(async (queries) => {
      const results = await pushDown(historian, historian.readInterpolated).call(historian, queries, context)
      this.#count(results.reduce((sum, values) => sum + values.length, 0))
      return results
    })
    this.integrals = new Batch(async (queries) => {
      const results = await pushDown(historian, historian.readIntegrals).call(historian, queries, context)
      this.#count(results.reduce((sum, result) => sum + result.integrals.length, 0))
      return results
    })
    this.aggregates = new Batch(async (queries) => {
      const results = await pushDown(historian, historian.readAggregates).call(historian, queries, context)
      this.#count(queries.reduce((sum, query) => sum + query.edges.length - 1, 0))
      return results
    })
  }

  /** The point that was asked for already, or a new one. */
  askPoint(tag: string, find: FindPoint, at: Instant): AskedPoint {
    const first = this.#firstPoints.get(tag)
    if (first === undefined) {
      const point = this.newPoint(tag, find, at)
      this.#firstPoints.set(tag, point)
      return point
    }
    if (first.find === find && first.at === at) return first
    first.others ??= new Map()
    return first.others.getOrInsertComputed(`${find} ${at}`, () => this.newPoint(tag, find, at))
  }

  /** A point that nobody asked for before, nor will again. */
  newPoint(tag: string, find: FindPoint, at: Instant): AskedPoint {
    const point = new AskedPoint(find, at)
    point.told = this.#points.addFor({ tag, find, at }, point)
    return point
  }

  /** Neighbours of many tags at the same times are one read; at other times they are another. */
  neighboursAt(times: Float64Array): Batch<string, Neighbours> {
    let batch = this.#neighbours.get(times)
    if (batch === undefined) {
      batch = new Batch(async (tags) => {
        const results = await this.#historian.readNeighbours(tags, times, this.#context)
        this.#count(results.reduce((sum, result) => sum + countNeighbours(result), 0))
        return results
      })
      this.#neighbours.set(times, batch)
    }
    return batch
  }

  #count(points: number): void {
    this.#statistics.points += points
    this.#statistics.historianCalls++
  }
}

/** A raw point of a stored tag, as `SeriesSource.point` is asked for it. */
export interface PointAsk {
  readonly tag: StoredTag
  readonly request: { readonly find: FindPoint; readonly at: Instant }
}

/** A tag may be read linear and held in the same call. */
function shapeName(tag: StoredTag, holdUntil: Instant): string {
  return `${tag.stepped ? 'stepped' : 'linear'} ${holdUntil}`
}

function pointAt(points: PointColumns, index: number): SinglePoint | null {
  const time = points.times[index]!
  if (Number.isNaN(time)) return null
  return {
    time: instantFromUs(time),
    value: points.values[index]!,
    bad: points.statuses[index] === STATUS_BAD,
  }
}

function countNeighbours(neighbours: Neighbours): number {
  let count = 0
  for (let i = 0; i < neighbours.beforeTimes.length; i++) {
    if (!Number.isNaN(neighbours.beforeTimes[i]!)) count++
    if (!Number.isNaN(neighbours.afterTimes[i]!)) count++
  }
  return count
}

function pushDown<Method>(historian: Historian, method: Method | undefined): Method {
  if (method === undefined) {
    throw new TidemarkError('BUG', {
      what: `historian ${historian.name} declares a push-down that it does not have`,
    })
  }
  return method
}
