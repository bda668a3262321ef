import type {
  AggregateQuery,
  CallContext,
  IntegralQuery,
  Neighbours,
  TagRange,
} from '../../historian/contract.ts'
import { type Summary, WindowAggregator } from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { type GoodStretch, SignalIntegrator, timeAverages } from '../../series/integrate.ts'
import type { Integrals, SignalShape } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import type { NeighbourReads } from './neighbour-reads.ts'
import { DELETED, type PointTable, type RangeStats, rangeCondition } from './point-table.ts'
import type { RangeReads } from './range-reads.ts'
import { tagId } from './tag-id.ts'
import { pieces, type WindowPiece } from './windows-sql.ts'

/** Aggregates that are computed at the server; the median of a longer window needs all of its values in memory there. */
export const SERVER_AGGREGATES = [
  'min',
  'max',
  'avg',
  'variance',
  'stdDev',
  'first',
  'last',
  'sum',
  'range',
  'count',
  'numGood',
  'numBad',
  'timeAvg',
] as const satisfies readonly AggregateName[]

/** Tags in one query. */
const MAX_TAGS = 1_000

/** Rows whose times and values the server holds at once to integrate; longer ranges are read in pieces. */
const MAX_HELD_ROWS = 2_000_000

/** Raw points that are read at a time where the server's numbers do not serve. */
const PAGE = 100_000

/** What the server says of the points of one tag between two edges. */
interface Stretch extends Summary, GoodStretch {
  readonly firstTime: number
  readonly lastTime: number
  readonly first: number
  readonly last: number
  readonly numGood: number
}

interface Signal extends SignalShape {
  readonly tag: string
  /** n + 1 ascending instants, between which the server sums up. */
  readonly edges: Float64Array
}

/**
 * Aggregates and integrals: the server sums up the points of stretches that each lie within one window, and the
 * stretches are joined by the code that joins raw points everywhere.
 */
export class SignalReads {
  readonly #points: PointTable
  readonly #ranges: RangeReads
  readonly #neighbours: NeighbourReads

  constructor(points: PointTable, ranges: RangeReads, neighbours: NeighbourReads) {
    this.#points = points
    this.#ranges = ranges
    this.#neighbours = neighbours
  }

  async aggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    const found: AggregateColumns[] = []
    const needsIntegrals = ({ aggregates }: AggregateQuery) => aggregates.includes('timeAvg')
    for (const members of sameWindows(queries, ({ edges }) => edges, needsIntegrals)) {
      const group = members.map((index) => queries[index]!)
      const withIntegrals = needsIntegrals(group[0]!)
      const folds = group.map((query) => new Fold(query, query.edges, query.aggregates, withIntegrals))
      await this.#feed(group, folds, withIntegrals, context)
      members.forEach((index, i) => {
        const columns = folds[i]!.aggregates()
        found[index] = withIntegrals ? { ...columns, timeAvg: timeAverages(folds[i]!.integrals()) } : columns
      })
    }
    return found
  }

  async integrals(queries: readonly IntegralQuery[], context: CallContext): Promise<readonly Integrals[]> {
    const found: Integrals[] = []
    const signals = queries.map(({ tag, starts, ends, stepped, holdUntil }) => ({
      tag,
      stepped,
      holdUntil,
      edges: joinedEdges(starts, ends),
    }))
    for (const members of sameWindows(
      signals,
      ({ edges }) => edges,
      () => true,
    )) {
      const group = members.map((index) => signals[index]!)
      const folds = members.map((index) => new Fold(queries[index]!, null, [], true, queries[index]!))
      if (group[0]!.edges.length > 1) await this.#feed(group, folds, true, context)
      members.forEach((index, i) => {
        found[index] = folds[i]!.integrals()
      })
    }
    return found
  }

  /** Feeds the folds with what signals with the same edges have between them and, for integrals, beside them. */
  async #feed(
    signals: readonly Signal[],
    folds: readonly Fold[],
    withIntegrals: boolean,
    context: CallContext,
  ): Promise<void> {
    const { edges } = signals[0]!
    const first = edges[0]!
    const last = edges[edges.length - 1]!
    const ranges = signals.map(
      ({ tag }): TagRange => ({ tag, from: instantFromUs(first), to: instantFromUs(last) }),
    )
    const [stats, beside] = await Promise.all([
      this.#points.stats(ranges, context),
      withIntegrals ? this.#beside(signals, first, last, context) : null,
    ])
    beside?.forEach(({ beforeTimes, beforeValues }, i) => {
      if (beforeTimes[0]! < first) folds[i]!.addPoint(beforeTimes[0]!, beforeValues[0]!)
    })
    const wanted = signals.map((_, i) => i).filter((i) => stats[i]!.rows > 0)
    for (let from = 0; from < wanted.length; from += MAX_TAGS) {
      const members = wanted.slice(from, from + MAX_TAGS)
      await this.#feedStretches(
        members.map((i) => signals[i]!),
        members.map((i) => folds[i]!),
        members.map((i) => stats[i]!),
        withIntegrals,
        context,
      )
    }
    const index = first === last ? 0 : 1
    beside?.forEach(({ afterTimes, afterValues }, i) => {
      if (!Number.isNaN(afterTimes[index]!)) folds[i]!.addPoint(afterTimes[index]!, afterValues[index]!)
    })
  }

  /** The good points at or before the first edge and at or after the last. */
  #beside(
    signals: readonly Signal[],
    first: number,
    last: number,
    context: CallContext,
  ): Promise<readonly Neighbours[]> {
    return this.#neighbours.outside(
      signals.map(({ tag }) => tag),
      first === last ? Float64Array.of(first) : Float64Array.of(first, last),
      context,
    )
  }

  async #feedStretches(
    signals: readonly Signal[],
    folds: readonly Fold[],
    stats: readonly RangeStats[],
    withIntegrals: boolean,
    context: CallContext,
  ): Promise<void> {
    const byId = new Map<string, number[]>()
    signals.forEach(({ tag }, i) => {
      byId.getOrInsertComputed(tagId(tag).text, () => []).push(i)
    })
    const rows = stats.reduce((sum, { rows: count }) => sum + count, 0)
    const edges = withIntegrals ? refined(signals[0]!.edges, stats, rows) : signals[0]!.edges
    const plain = stats.every((one) => one.plain)
    const collected: Stretch[][] = signals.map(() => [])
    let counted = 0
    for (const piece of piecesOf(edges, withIntegrals ? rows : 0)) {
      context.signal.throwIfAborted()
      const condition = rangeCondition(byId.keys(), piece.edges[0]!, piece.edges[piece.edges.length - 1]!)
      const found = await this.#readStretches(piece.sql, condition, plain, withIntegrals, context)
      for (const { id, stretch } of found) {
        for (const i of byId.get(id) ?? []) collected[i]!.push(stretch)
        counted += stretch.count
      }
    }
    // Something was written between the two queries, perhaps a second version of a point: then the slower way decides.
    const distinctRows = [...byId.values()].reduce((sum, [i]) => sum + stats[i!]!.rows, 0)
    if (plain && counted !== distinctRows) {
      const unsure = stats.map((one) => ({ ...one, plain: false }))
      await this.#feedStretches(signals, folds, unsure, withIntegrals, context)
      return
    }
    for (let i = 0; i < signals.length; i++) {
      if (collected[i]!.every(isFinite_)) folds[i]!.addStretches(collected[i]!)
      else await this.#feedRaw(signals[i]!, folds[i]!, context)
    }
  }

  async #readStretches(
    windowSql: string,
    condition: string,
    plain: boolean,
    withIntegrals: boolean,
    context: CallContext,
  ): Promise<readonly { readonly id: string; readonly stretch: Stretch }[]> {
    const good = 'status = 0'
    const integrals = withIntegrals
      ? `, arraySort(groupArrayIf(time, ${good})) AS times_, arraySort((one, at) -> at, groupArrayIf(value, ${good}), groupArrayIf(time, ${good})) AS values_`
      : ''
    const sums =
      `SELECT tag, ${windowSql} AS window_, count() AS count_, countIf(${good}) AS good_, ` +
      `min(time) AS firstTime_, max(time) AS lastTime_, minIf(time, ${good}) AS firstGood_, maxIf(time, ${good}) AS lastGood_, ` +
      `sumKahanIf(value, ${good}) AS sum_, varPopStableIf(value, ${good}) AS variance_, ` +
      `minIf(value, ${good}) AS min_, maxIf(value, ${good}) AS max_, ` +
      `argMinIf(value, time, ${good}) AS first_, argMaxIf(value, time, ${good}) AS last_${integrals} ` +
      `FROM ${this.#points.table}${plain ? '' : ' FINAL'} ` +
      `WHERE ${condition}${plain ? '' : ` AND status < ${DELETED}`} GROUP BY tag, window_`
    const columns = Object.keys(SUM_KINDS).join(', ')
    // The arrays stay at the server: only their sums come.
    const steps = 'arrayPopBack(times_), arrayPopFront(times_), arrayPopBack(values_), arrayPopFront(values_)'
    const sql = withIntegrals
      ? `SELECT ${columns}, ` +
        `arraySum(arrayMap((t0, t1, v0, v1) -> (t1 - t0) * (v0 / 2 + v1 / 2), ${steps})) AS linear_, ` +
        `arraySum(arrayMap((t0, t1, v0, v1) -> (t1 - t0) * v0, ${steps})) AS stepped_ ` +
        `FROM (${sums}) ORDER BY tag, window_`
      : `SELECT ${columns}, toFloat64(0) AS linear_, toFloat64(0) AS stepped_ FROM (${sums}) ORDER BY tag, window_`
    const rows = await this.#points.servers.read(
      'read',
      sql,
      { ...SUM_KINDS, linear_: 'number', stepped_: 'number' } as const,
      context,
    )
    return Array.from({ length: rows.rows }, (_, i) => {
      const numGood = rows.good_[i]!
      return {
        id: String(rows.tag[i]),
        stretch: {
          count: rows.count_[i]!,
          numGood,
          firstTime: rows.firstTime_[i]!,
          lastTime: rows.lastTime_[i]!,
          firstGoodTime: rows.firstGood_[i]!,
          lastGoodTime: rows.lastGood_[i]!,
          sum: rows.sum_[i]!,
          mean: rows.sum_[i]! / numGood,
          meanRest: 0,
          squares: numGood === 1 ? 0 : rows.variance_[i]! * numGood,
          min: rows.min_[i]!,
          max: rows.max_[i]!,
          first: rows.first_[i]!,
          last: rows.last_[i]!,
          linear: rows.linear_[i]!,
          stepped: rows.stepped_[i]!,
        },
      }
    })
  }

  /** The same from raw points: for values so large that sums over them leave the range of doubles. */
  async #feedRaw({ tag, edges }: Signal, fold: Fold, context: CallContext): Promise<void> {
    const to = instantFromUs(edges[edges.length - 1]!)
    let from = instantFromUs(edges[0]!)
    for (let more = true; more; ) {
      const [page] = await this.#ranges.read([{ tag, from, to, order: 'asc', limit: PAGE }], context)
      const { points } = page!
      fold.addPoints(points)
      more = page!.more
      if (more) from = instantFromUs(points.times[points.times.length - 1]! + 1)
    }
  }
}

const SUM_KINDS = {
  tag: 'bigint',
  window_: 'number',
  count_: 'number',
  good_: 'number',
  firstTime_: 'number',
  lastTime_: 'number',
  firstGood_: 'number',
  lastGood_: 'number',
  sum_: 'number',
  variance_: 'number',
  min_: 'number',
  max_: 'number',
  first_: 'number',
  last_: 'number',
} as const

/** Takes stretches or points in time order and gives what they come to. */
class Fold {
  readonly #windows: WindowAggregator | null
  readonly #signal: SignalIntegrator | null

  constructor(
    shape: SignalShape,
    edges: Float64Array | null,
    names: readonly AggregateName[],
    withIntegrals: boolean,
    spans: { readonly starts: Float64Array; readonly ends: Float64Array } | null = null,
  ) {
    this.#windows = edges === null ? null : new WindowAggregator(edges, names)
    const starts = spans?.starts ?? edges!.subarray(0, -1)
    const ends = spans?.ends ?? edges!.subarray(1)
    this.#signal = withIntegrals ? new SignalIntegrator(starts, ends, shape) : null
  }

  addPoint(time: number, value: number): void {
    this.#signal?.addPoint(time, value)
  }

  addStretches(stretches: readonly Stretch[]): void {
    for (const stretch of stretches) {
      // Each lies in one window by how it was asked for; `takes` also closes the windows before it.
      if (this.#windows?.takes(stretch.firstTime, stretch.lastTime)) {
        this.#windows.addSummary(stretch, stretch.lastTime)
      }
      this.#signal?.addStretch(stretch)
    }
  }

  addPoints(points: Parameters<WindowAggregator['add']>[0]): void {
    this.#windows?.add(points)
    this.#signal?.add(points)
  }

  aggregates(): AggregateColumns {
    return this.#windows!.finish()
  }

  integrals(): Integrals {
    return this.#signal!.finish()
  }
}

/** Whether the server's sums are numbers. */
function isFinite_({ numGood, sum, squares, linear, stepped }: Stretch): boolean {
  return numGood === 0 || Number.isFinite(sum + squares + linear + stepped)
}

/** Indexes of queries with the same windows, or the same times, which one query at the server can answer. */
export function sameWindows<Query>(
  queries: readonly Query[],
  edgesOf: (query: Query) => Float64Array,
  flag: (query: Query) => boolean = () => true,
): readonly (readonly number[])[] {
  const groups = new Map<string, number[][]>()
  queries.forEach((query, index) => {
    const edges = edgesOf(query)
    const key = `${edges.length} ${edges[0]} ${edges[edges.length - 1]} ${flag(query)}`
    const candidates = groups.getOrInsertComputed(key, () => [])
    const same = candidates.find((members) => isSame(edgesOf(queries[members[0]!]!), edges))
    if (same === undefined) candidates.push([index])
    else same.push(index)
  })
  return [...groups.values()].flat()
}

function isSame(one: Float64Array, other: Float64Array): boolean {
  return one === other || one.every((edge, i) => edge === other[i])
}

/** All starts and ends, ascending and distinct: spans and the gaps between them. */
function joinedEdges(starts: Float64Array, ends: Float64Array): Float64Array {
  const edges: number[] = []
  for (let i = 0; i < starts.length; i++) {
    for (const edge of [starts[i]!, ends[i]!]) if (edges.at(-1) !== edge) edges.push(edge)
  }
  return Float64Array.from(edges)
}

/** Edges with more of them between, so that no stretch makes the server hold too many points. */
function refined(edges: Float64Array, stats: readonly RangeStats[], rows: number): Float64Array {
  if (rows <= MAX_HELD_ROWS) return edges
  const from = Math.max(edges[0]!, Math.min(...stats.map(({ firstTime }) => firstTime)))
  const to = Math.min(edges[edges.length - 1]!, Math.max(...stats.map(({ lastTime }) => lastTime)) + 1)
  // Four times as many as evenly dense points would need.
  const count = Math.ceil((rows / MAX_HELD_ROWS) * 4)
  const more = Array.from({ length: count - 1 }, (_, i) => Math.round(from + ((to - from) * (i + 1)) / count))
  return Float64Array.from([...new Set([...edges, ...more])].sort((a, b) => a - b))
}

/** Pieces for one query each: as the windows' SQL wants them, and cut where too many rows would be held at once. */
function piecesOf(edges: Float64Array, rows: number): readonly WindowPiece[] {
  const cuts = Math.max(1, Math.ceil(rows / MAX_HELD_ROWS))
  const windows = edges.length - 1
  const step = Math.max(1, Math.ceil(windows / cuts))
  const found: WindowPiece[] = []
  for (let start = 0; start < windows; start += step) {
    found.push(...pieces(edges.subarray(start, Math.min(windows, start + step) + 1)))
  }
  return found
}
