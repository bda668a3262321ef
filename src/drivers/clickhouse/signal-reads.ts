import type { AggregateQuery, CallContext, IntegralQuery } from '../../historian/contract.ts'
import { takesSignal } from '../../series/aggregate.ts'
import { type AggregateColumns, type AggregateName, aggregateOf } from '../../series/aggregate-names.ts'
import { makeColumns, type PointColumns, STATUS_OK } from '../../series/columns.ts'
import type { Integrals, SignalShape } from '../../series/reads.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { instantFromUs } from '../../time/instant.ts'
import type { Beside, BoundingReads } from './bounding-reads.ts'
import type { RangeReads } from './range-reads.ts'
import { sameWindows } from './same-windows.ts'
import type { SegmentReads } from './segment-reads.ts'
import { AggregateFold, IntegralFold, type SignalFold } from './signal-fold.ts'
import { type SegmentUses, signalSums } from './signal-sums.ts'
import { tagId } from './tag-id.ts'

/**
 * Aggregates that are computed at the server; the median of a longer window needs all of its values in memory there.
 */
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
  'total',
  'delta',
  'increase',
  'startBound',
  'endBound',
  'deltaBounds',
  'minTime',
  'maxTime',
  'stdDevP',
  'varP',
  'durationGood',
  'durationBad',
  'coverage',
  'percentGood',
  'percentBad',
  'numTransitions',
  'durationZero',
  'durationNonZero',
  'worstStatus',
] as const satisfies readonly AggregateName[]

/** Raw points that are read at a time where the server's numbers do not serve. */
const PAGE = 100_000

interface Signal extends SignalShape {
  readonly tag: string
  /** n + 1 ascending instants, between which the server sums up. */
  readonly edges: Float64Array
}

/** What aggregates, or integrals, are made of. */
interface Needs {
  readonly signal: boolean
  readonly zero: boolean
  readonly rises: boolean
  readonly transitions: boolean
  readonly durations: boolean
  readonly extremes: boolean
}

const INTEGRALS: Needs = {
  signal: true,
  zero: false,
  rises: false,
  transitions: false,
  durations: false,
  extremes: false,
}

/**
 * Aggregates and integrals: the server sums up the points of segments that each lie within one window, and the
 * segments are joined by the code that joins raw points everywhere.
 */
export class SignalReads {
  readonly #segments: SegmentReads
  readonly #ranges: RangeReads
  readonly #boundingValues: BoundingReads

  constructor(segments: SegmentReads, ranges: RangeReads, boundingValues: BoundingReads) {
    this.#segments = segments
    this.#ranges = ranges
    this.#boundingValues = boundingValues
  }

  aggregates(queries: readonly AggregateQuery[], context: CallContext): Promise<readonly AggregateColumns[]> {
    return this.#read(
      queries,
      queries.map(({ aggregates }) => needsOf(aggregates)),
      (i) => new AggregateFold(queries[i]!),
      context,
    )
  }

  integrals(queries: readonly IntegralQuery[], context: CallContext): Promise<readonly Integrals[]> {
    const signals = queries.map((query) => ({ ...query, edges: joinedEdges(query.starts, query.ends) }))
    return this.#read(
      signals,
      signals.map(() => INTEGRALS),
      (i) => new IntegralFold(queries[i]!),
      context,
    )
  }

  /** Signals with the same edges, limits and needs are read together. */
  async #read<Result>(
    signals: readonly Signal[],
    needs: readonly Needs[],
    foldOf: (index: number) => SignalFold<Result>,
    context: CallContext,
  ): Promise<readonly Result[]> {
    const found: Result[] = []
    const indexes = signals.map((signal, index) => ({ ...signal, index }))
    const flag = ({ index, holdUntil, maxGapUs }: Signal & { readonly index: number }) =>
      `${JSON.stringify(needs[index])} ${holdUntil} ${maxGapUs}`
    for (const members of sameWindows(indexes, ({ edges }) => edges, flag)) {
      const group = members.map((index) => signals[index]!)
      const folds = members.map((index) => foldOf(index))
      if (group[0]!.edges.length > 1) await this.#feed(group, folds, needs[members[0]!]!, context)
      members.forEach((index, i) => {
        found[index] = folds[i]!.finish()
      })
    }
    return found
  }

  /** Feeds the folds with what signals with the same edges have between them and, where that is needed, beside them. */
  async #feed(
    signals: readonly Signal[],
    folds: readonly SignalFold<unknown>[],
    needs: Needs,
    context: CallContext,
  ): Promise<void> {
    const { edges, holdUntil } = signals[0]!
    const tags = signals.map(({ tag }) => tag)
    const statement = signalSums(usesOf(signals, needs))
    // What is good up to `now` and what is beyond a summary of both sides does not show.
    const cutAt = needs.signal || needs.durations ? holdUntil : Number.POSITIVE_INFINITY
    const [rows, beside] = await Promise.all([
      this.#segments.rows(tags, edges, statement, context, cutAt),
      this.#beside(tags, edges, needs, context),
    ])
    for (const [i, { tag }] of signals.entries()) {
      const fold = folds[i]!
      const { rawBefore, goodBefore, goodAfter } = beside[i]!
      const isBefore = goodBefore !== null && goodBefore.time < edges[0]!
      fold.addBefore(pointsOf(rawBefore, isBefore ? goodBefore : null), isBefore ? goodBefore : null)
      const summaries = (rows.get(tagId(tag).text) ?? []).map(({ summary }) => summary)
      if (summaries.every(isFinite_)) for (const summary of summaries) fold.addSummary(summary)
      else await this.#feedRaw(signals[i]!, fold, context)
      if (goodAfter !== null) fold.addAfter(goodAfter)
    }
  }

  /** The points beside the edges, as far as they are needed. */
  #beside(
    tags: readonly string[],
    edges: Float64Array,
    { signal, rises, transitions, durations }: Needs,
    context: CallContext,
  ): Promise<readonly Beside[]> {
    const [first, last] = [edges[0]!, edges.at(-1)!]
    // A point at the first edge ends the search, unless what was before it counts.
    const isStrict = rises || transitions
    return this.#boundingValues.beside(
      tags,
      {
        rawBefore: durations ? first : null,
        goodBefore: signal || transitions ? (isStrict ? first - 1 : first) : null,
        goodAfter: signal ? last : null,
      },
      context,
    )
  }

  /** The same from raw points: for values so large that sums over them leave the range of doubles. */
  async #feedRaw({ tag, edges }: Signal, fold: SignalFold<unknown>, context: CallContext): Promise<void> {
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

function needsOf(names: readonly AggregateName[]): Needs {
  const uses = (...some: readonly AggregateName[]) => some.some((name) => names.includes(name))
  return {
    signal: takesSignal(names),
    zero: uses('durationZero', 'durationNonZero'),
    rises: names.some((name) => aggregateOf(name).state === 'counter'),
    transitions: uses('numTransitions'),
    durations: uses('durationGood', 'durationBad'),
    extremes: uses('minTime', 'maxTime'),
  }
}

function usesOf(signals: readonly Signal[], { signal, ...needs }: Needs): SegmentUses {
  const { maxGapUs } = signals[0]!
  return {
    ...needs,
    linear: signal && signals.some(({ stepped }) => !stepped),
    stepped: signal && signals.some(({ stepped }) => stepped),
    ...(maxGapUs !== undefined && { maxGapUs }),
  }
}

/** The last point before the windows and, where that one is BAD, the last good one before it. */
function pointsOf(raw: Beside['rawBefore'], good: Beside['goodBefore']): PointColumns {
  const rows = raw === null ? [] : [raw]
  if (good !== null && (raw === null || good.time < raw.time)) rows.unshift({ ...good, status: STATUS_OK })
  const points = makeColumns(rows.length)
  rows.forEach(({ time, value, status }, i) => {
    points.times[i] = time
    points.values[i] = value
    points.statuses[i] = status
  })
  return points
}

/** Whether the server's sums are numbers. */
function isFinite_({ numGood, sum, squares, linear, stepped, increase = 0 }: ZoneMap): boolean {
  return numGood === 0 || Number.isFinite(sum + squares + linear + stepped + increase)
}

/** All starts and ends, ascending and distinct: spans and the gaps between them. */
function joinedEdges(starts: Float64Array, ends: Float64Array): Float64Array {
  const edges: number[] = []
  for (let i = 0; i < starts.length; i++) {
    for (const edge of [starts[i]!, ends[i]!]) if (edges.at(-1) !== edge) edges.push(edge)
  }
  return Float64Array.from(edges)
}
