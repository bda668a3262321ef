import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import type { GapPage, GapSearch } from '../../series/gaps.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import type { FindPoint, Integrals, PlotPoints, RangeResult } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { Chunk, ChunkRange, ChunkStream } from './chunk.ts'
import type { Evaluation } from './evaluation.ts'
import type { Near, Reach } from './near.ts'
import type { FindPlace, Need, NeedSink } from './need.ts'
import type { RawRange, SinglePoint } from './point-source.ts'

/**
 * A node of a call's graph: a stored tag, a signal that follows from the time, a constant, or a calculation over other
 * nodes. Made by graph.ts; equal expressions in equal contexts are one node for all labels of a call.
 *
 * There are two evaluations: `valuesAt`, pointwise at times that are handed down to the leaves, and `chunks`, a stream
 * of raw points with the signal between them. What request types need beyond that is made of these two, once for all
 * operators, in src/calc/consumers. The four interfaces beside that are each read in a few places alone; `BaseOperator`
 * has what holds for most operators.
 *
 * Values are columns of doubles with NaN for "no value".
 */
export interface Operator extends Traits, Estimated, GoodPointSearch, BeyondPoints, Shortcuts {
  /** Operators that `needs` calls. They were made before this one. */
  readonly inputs: readonly Operator[]
  /** Position in the order of making, which is topological: inputs come before their operators. */
  readonly id: number

  /** Value at each time. @param times ascending, distinct; not to be changed, like the result */
  valuesAt(times: Float64Array): Promise<Float64Array>
  /**
   * Raw points of a range and the signal between them, chunk by chunk; equal ranges are evaluated once for all callers.
   */
  chunks(range: ChunkRange): ChunkStream
  /** Time of the raw point next to an instant; `null` when there is none. */
  rawTime(find: FindPoint, at: Instant): Promise<Instant | null>
  /** The raw point next to an instant; `null` when there is none. */
  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null>
  /** The current point: the last one of find 'before' or 'before-or-at' an instant; `null` when there is none. */
  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null>
}

/** What the estimate asks of an operator (estimate.ts): pure arithmetic that fetches nothing. */
export interface Estimated {
  /** Reports to the sink what a need of this operator needs of its inputs, at most; a leaf estimates it. */
  needs(need: Need, sink: NeedSink): void

  /**
   * How far from an instant the raw point next to it lies.
   * @param at `null` for any instant
   */
  reach(find: FindPoint, at: Instant | null): Reach

  /** The place of a need of this operator as one of its inputs, which may know it as another time. */
  placeBelow(near: Near): Near
}

/** What a search for good raw points past BAD ones asks (consumers/find-point.ts, consumers/good-chunks.ts). */
export interface GoodPointSearch {
  /** Set where no raw point is BAD or without a value: a search for a good one ends at the first. */
  readonly isNeverBad: boolean
  /** Set where a raw point is BAD only when its value leaves the range of doubles: the estimate counts on none. */
  readonly isSeldomBad?: boolean
  /** Set where the signal has a value at every instant, unless it leaves the range of doubles there. */
  readonly isComplete?: boolean
  /** Set where the signal has a value at each instant from its first good raw point to the last one, and to `now`. */
  readonly isGapless?: boolean
  /**
   * The good raw point next to an instant, `null` when there is none, at a cost of two points however many BAD ones it
   * passes by. Only operators whose historian finds it have this.
   */
  goodPoint?(find: FindPoint, at: Instant): Promise<SinglePoint | null>
  /**
   * A bound for the search of a good raw point: no raw point between `at` and it is good. It costs a few points of each
   * input, however many are passed by. `null` when there is no good one at all; a search back in time then finds no
   * value of the signal there either.
   */
  goodBound(find: FindPoint, at: Instant): Promise<Instant | null>
  /** Reports what `goodBound` needs, of this operator or of those inside. */
  goodBoundNeeds(place: FindPlace, sink: NeedSink): void
  /**
   * Whether the signal may have a value at an instant or beyond it, in the direction of a search; a few points of each
   * tag below. False ends a search for a good raw point, which would go on to the last one of its inputs.
   */
  mayHaveValue(find: FindPoint, at: Instant): Promise<boolean>
  /** Whether each BAD point of an operator, this one or one below, is a BAD one here too. */
  isBadWith(operator: Operator): boolean
  /**
   * The signal over [from, to) where no good raw point stands in it, from the good points beside it alone: the BAD ones
   * in it are not read.
   */
  readonly signal?: ((from: Instant, to: Instant) => Promise<Chunk>) | undefined
}

/** What is asked of a signal beyond its outermost raw points (consumers/segments.ts, operators/crossings). */
export interface BeyondPoints {
  /**
   * Set where the value may change beyond the outermost raw points of its inputs and the ends of their holds, as
   * windows move: how many microseconds before the first, and after the last of these.
   */
  readonly movesOn?: MovesOn | undefined
  /** Set where the signal may bend in a curve behind all raw points. */
  readonly bendsBehind: boolean
  /**
   * The first instant at or after another, behind all raw points, up to which the signal may bend in a curve: integrals
   * of what lies before it are not to depend on where they end. `null` when it goes straight from there on.
   */
  outerBreak(at: Instant): Promise<Instant | null>
}

/** What a historian or a closed form works out. Where something is absent, its consumer reads chunks instead. */
export interface Shortcuts {
  /** Names of the values of a stored tag that has some; a calculation over it has none. */
  readonly states?: TagStates
  /**
   * The same for comparisons with thresholds alone, from fewer points; `null` where the historian cannot leave any out.
   */
  compared?(thresholds: readonly number[]): Operator | null
  /** Raw points of a range without streaming it. */
  rawPoints?(range: RawRange): Promise<RangeResult>
  /**
   * The same without what is damaged, which `missing` then names. Only stored tags have it: what a calculation makes
   * of a part of its points would be a wrong number.
   */
  intactPoints?(range: RawRange): Promise<RangeResult>
  /** Integrals over spans that do not overlap, without reading the range. */
  readonly integrals?: ((starts: Float64Array, ends: Float64Array) => Promise<Integrals>) | undefined
  /** The same from a formula, at once and each span by itself: they may overlap. */
  readonly closedIntegrals?: ((starts: Float64Array, ends: Float64Array) => Integrals) | undefined
  /** Aggregates over n windows between n + 1 edges. */
  aggregates?(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns>
  /** What src/series/plot.ts chooses of the raw points between n + 1 edges, with all breaks. */
  plot?(edges: Float64Array): Promise<PlotPoints>
  /** Gaps between its good raw points, where a historian finds them. */
  readonly gaps?: ((search: GapSearch) => Promise<GapPage>) | undefined
  /**
   * The same raw points with step interpolation. Only operators whose signal is that of their good raw points have it.
   * @param pushDowns false: everything is worked out from raw points and nothing by a historian
   */
  stepInterpolated?(pushDowns: boolean): Operator
}

/**
 * From so many operators inside each other on, what is evaluated is kept for others that want part of it: each level
 * would otherwise be worked out anew for each level above it.
 */
export const DEEP_LEVELS = 4

/**
 * Up to so many operators inside each other it is followed through all of them where a signal bends behind its raw
 * points. Each level of rolling windows may double the number of such places: beyond, only raw points make them.
 */
export const FOLLOWED_LEVELS = 6

/** What is known of an operator's signal without evaluating it. */
export interface Traits {
  /** Step interpolation between raw points, or linear. */
  readonly stepped: boolean
  /** What the values depend on: nothing (a constant), the time alone, or stored data. */
  readonly varies: 'nothing' | 'time' | 'data'
  /**
   * Whether the signal is piecewise linear with vertices at raw points only, which is what integrals take it for. A
   * product of two linear tags is not.
   */
  readonly linear: boolean
  /** Instants at which the hold of a last value ends, or goes on with another value: all that there can be. */
  readonly extrapolationLimits: readonly Instant[]
  /** Leaves below it, each occurrence counted: pages are made shorter for wide expressions. */
  readonly width: number
  /** Operators inside each other, from this one down to a leaf: 1 of a leaf. */
  readonly levels: number
}

export interface MovesOn {
  readonly beforeUs: number
  readonly afterUs: number
}

export interface CurrentPoint {
  /** `null` when it has no timestamp of its own (constants): it then takes that of its companions, or `now`. */
  readonly time: Instant | null
  readonly value: number
  readonly bad: boolean
}

/** What an operator is made in: fixed for one label of a call, or for a part of it that is read elsewhere in time. */
export interface OperatorContext {
  readonly evaluation: Evaluation
  /** The label's `now`: reference of relative times, end of the last good point's hold. */
  readonly now: Instant
  readonly zone: TimeZone
  /** The request's range; [t, t] for one instant. Range-dependent functions take their windows from it. */
  readonly range: { readonly from: Instant; readonly to: Instant }
  /**
   * The range with what functions around read beyond it: a window of SLIDINGAGG begins before it, that of a total too.
   * A filter starts before its beginning, and WINDOWAGG has the windows of it, whatever part of it is read. Left out
   * where it is the range itself.
   */
  readonly reach?: { readonly from: Instant; readonly to: Instant }
  /**
   * Microseconds between the points of an INTERPOLATED_POINTS request; absent for all others and for a single point.
   */
  readonly spacingUs?: number
  /** How long good points of the stored tags below are good for, whatever their metadata say; absent: as these say. */
  readonly maxGapUs?: number
}
