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
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { type PointColumns, STATUS_BAD } from '../series/columns.ts'
import type { FindPoint, Integrals, Neighbours, RangeResult } from '../series/reads.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import { AskedPoint, type PointAnswer } from './asked-point.ts'
import { Batch, sendTogether } from './batch.ts'

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
  #made: Map<string, Promise<unknown>> | null = null
  #gridIds: WeakMap<Float64Array, number> | null = null
  #nextGridId = 1

  constructor(historians: HistorianView, context: CallContext) {
    this.#historians = historians
    this.#context = context
  }

  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#lane(tag).askPoint(tag.tag, find, at).promise()
  }

  /**
   * Many points that are all different, in a call that asks for nothing else: they need not be found again, and wait for no other
   * reads. The answers are in their order; a promise of them, which never rejects, where a historian has to be waited for.
   */
  allPoints(asks: readonly PointAsk[]): MaybePromise<readonly PointAnswer[]> {
    const points: AskedPoint[] = []
    let lane: HistorianLane | null = null
    let historian = ''
    for (const { tag, request } of asks) {
      const point = new AskedPoint(tag.tag, request.find, request.at)
      points.push(point)
      if (lane === null || tag.historian !== historian) {
        historian = tag.historian
        lane = this.#lane(tag)
      }
      lane.gathered.push(point)
    }
    const waiting: Promise<void>[] = []
    for (const lane of this.#lanes.values()) {
      const told = lane.readGathered()
      if (told instanceof Promise) waiting.push(told)
    }
    return waiting.length === 0 ? points : Promise.all(waiting).then(() => points)
  }

  /** Many points beside other reads, without a promise for each. Resolves when all are answered, in their order; rejects never. */
  async points(asks: readonly PointAsk[]): Promise<readonly PointAnswer[]> {
    const points = asks.map(({ tag, request: { find, at } }) => this.#lane(tag).askPoint(tag.tag, find, at))
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
      const forget = () => this.#made?.delete(this.#key(tag, `range ${from} ${to} ${order} ${limit}`))
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
    this.#made ??= new Map()
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
    this.#gridIds ??= new WeakMap()
    let id = this.#gridIds.get(times)
    if (id === undefined) {
      id = this.#nextGridId++
      this.#gridIds.set(times, id)
    }
    return id
  }
}

/** The batches that wait for one historian, each made when it is needed. */
class HistorianLane {
  /** Points that are read together, without waiting for others. */
  readonly gathered: AskedPoint[] = []
  /** The first point asked of each tag, and most often the only one: known by what it is, without a name made up for it. */
  #firstPoints: Map<string, AskedPoint> | null = null
  #points: Batch<PointQuery, SinglePoint | null> | null = null
  #ranges: Batch<RangeQuery, RangeResult> | null = null
  #interpolations: Batch<InterpolationQuery, Float64Array> | null = null
  #integrals: Batch<IntegralQuery, Integrals> | null = null
  #aggregates: Batch<AggregateQuery, AggregateColumns> | null = null
  #neighbours: Map<Float64Array, Batch<string, Neighbours>> | null = null
  readonly #historian: Historian
  readonly #context: CallContext
  readonly #statistics: ReadStatistics

  constructor(historian: Historian, context: CallContext, statistics: ReadStatistics) {
    this.#historian = historian
    this.#context = context
    this.#statistics = statistics
  }

  get points(): Batch<PointQuery, SinglePoint | null> {
    this.#points ??= new Batch((queries) => this.#readPoints(queries))
    return this.#points
  }

  #readPoints(queries: readonly PointQuery[]): MaybePromise<readonly (SinglePoint | null)[]> {
    const found = this.#historian.readPoints(queries, this.#context)
    return found instanceof Promise
      ? found.then((points) => this.#takePoints(points))
      : this.#takePoints(found)
  }

  /** Reads what was gathered, in one call. A promise, which never rejects, where that has to be waited for. */
  readGathered(): MaybePromise<void> {
    return sendTogether(this.gathered, this.gathered, (queries) => this.#readPoints(queries))
  }

  #takePoints(found: PointColumns): readonly (SinglePoint | null)[] {
    const count = found.times.length
    this.#count(count)
    const points: (SinglePoint | null)[] = []
    for (let i = 0; i < count; i++) points.push(pointAt(found, i))
    return points
  }

  get ranges(): Batch<RangeQuery, RangeResult> {
    this.#ranges ??= new Batch(async (queries) => {
      const results = await this.#historian.readRanges(queries, this.#context)
      this.#count(results.reduce((sum, result) => sum + result.points.times.length, 0))
      return results
    })
    return this.#ranges
  }

  get interpolations(): Batch<InterpolationQuery, Float64Array> {
    this.#interpolations ??= new Batch(async (queries) => {
      const historian = this.#historian
      const read = pushDown(historian, historian.readInterpolated)
      const results = await read.call(historian, queries, this.#context)
      this.#count(results.reduce((sum, values) => sum + values.length, 0))
      return results
    })
    return this.#interpolations
  }

  get integrals(): Batch<IntegralQuery, Integrals> {
    this.#integrals ??= new Batch(async (queries) => {
      const historian = this.#historian
      const read = pushDown(historian, historian.readIntegrals)
      const results = await read.call(historian, queries, this.#context)
      this.#count(results.reduce((sum, result) => sum + result.integrals.length, 0))
      return results
    })
    return this.#integrals
  }

  get aggregates(): Batch<AggregateQuery, AggregateColumns> {
    this.#aggregates ??= new Batch(async (queries) => {
      const historian = this.#historian
      const read = pushDown(historian, historian.readAggregates)
      const results = await read.call(historian, queries, this.#context)
      this.#count(queries.reduce((sum, query) => sum + query.edges.length - 1, 0))
      return results
    })
    return this.#aggregates
  }

  /** The point that was asked for already, or a new one. */
  askPoint(tag: string, find: FindPoint, at: Instant): AskedPoint {
    this.#firstPoints ??= new Map()
    const first = this.#firstPoints.get(tag)
    if (first === undefined) {
      const point = this.#newPoint(tag, find, at)
      this.#firstPoints.set(tag, point)
      return point
    }
    if (first.find === find && first.at === at) return first
    first.others ??= new Map()
    return first.others.getOrInsertComputed(`${find} ${at}`, () => this.#newPoint(tag, find, at))
  }

  #newPoint(tag: string, find: FindPoint, at: Instant): AskedPoint {
    const point = new AskedPoint(tag, find, at)
    point.told = this.points.addFor(point, point)
    return point
  }

  /** Neighbours of many tags at the same times are one read; at other times they are another. */
  neighboursAt(times: Float64Array): Batch<string, Neighbours> {
    this.#neighbours ??= new Map()
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
