import type { Intervals } from '../../calc/consumers/intervals.ts'
import type { Evaluation } from '../../calc/graph/evaluation.ts'
import type { Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import type { SinglePoint } from '../../calc/graph/point-source.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { GapPage } from '../../series/gaps.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import type { FindPoint, MissingSpan } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { Rest } from '../cursor.ts'
import type { ShownAggregates } from './asked-aggregates.ts'

/**
 * One label's request with its details parsed: what it is about, how much it requests, what it needs of its operator,
 * and how it is answered from it. Each request type is one class that says all of this, so that estimate and evaluation
 * stand side by side.
 */
export interface Request {
  /** The range that it is about; [t, t] for one instant. */
  readonly range: { readonly from: Instant; readonly to: Instant }
  /** Microseconds between the points of INTERPOLATED_POINTS, on average where steps are of a calendar. */
  readonly spacingUs?: number
  /** Set where one raw point of a tag alone is the answer: such calls have a fast path. */
  readonly plainPoint?: { readonly find: FindPoint; readonly at: Instant }
  /** How long good points of stored tags are good for, where a detail of its own says so. */
  readonly maxGapUs?: number | undefined
  /** Address of a second tag that it is about. */
  readonly otherTag?: string
  /**
   * What is answered in its place where it would take the call beyond what it may read, or a historian refuses to
   * compute it.
   */
  readonly fallback?: Request

  /** The same over another range; absent, or `undefined`, where there is none. */
  within?(range: Request['range']): Request | undefined

  /**
   * Greatest width of a chart that requests at most so many points, below 1 for none; absent where there is no width.
   */
  widthFor?(points: number): number

  /** The operator that it is planned for and answered from, where that is not the one of the tag itself. */
  operatorFor?(operator: Operator): Operator

  /**
   * How much it requests, as the limits count it.
   * @param left what the limits leave: steps of a calendar are counted one by one only as far as they could be allowed
   */
  size(left: RequestSize, zone: TimeZone): RequestSize
  /**
   * What it needs of its operator; `answer` reads just this.
   * @param states names of the values of a tag that has some
   */
  needs(size: RequestSize, zone: TimeZone, states: TagStates | null): readonly Need[]
  /** The same of the operator of `otherTag`. */
  otherNeeds?(states: TagStates | null): readonly Need[]
  /** Rejects with the error of its label. */
  answer(operator: Operator, context: AnswerContext): Promise<Result>
}

/** How many points and windows a request needs. */
export interface RequestSize {
  /** Requested points: maxPoints, count or steps; 1 for every other type. */
  readonly points: number
  readonly windows: number
}

export const ONE_POINT: RequestSize = { points: 1, windows: 0 }

/**
 * The times of one call's answers, each grid once, by a name that is equal only for equal times: labels with the same
 * grid share an array, which is then looked at once to find equal reads. Made only after the limits allowed as many
 * times; an array is not to be changed.
 */
export type Grids = Map<string, Float64Array>

export interface AnswerContext {
  readonly evaluation: Evaluation
  readonly grids: Grids
  readonly zone: TimeZone
  /** The label's. */
  readonly now: Instant
  /** Names of the values of a tag that has some; `null` for others, and for calculations. */
  readonly states: TagStates | null
  /** Of `otherTag`; `null` without one. */
  readonly other: Operator | null
  /** The same of `otherTag`. */
  readonly otherStates: TagStates | null
}

/** What one label is answered with. `rest` is what the next page goes on from; `null` when nothing is left. */
export type Result =
  | { readonly kind: 'point'; readonly point: SinglePoint }
  | { readonly kind: 'points'; readonly points: PointColumns }
  | {
      readonly kind: 'raw'
      readonly points: PointColumns
      readonly rest: Rest | null
      /** What was left out because of damage; absent for nothing. */
      readonly leftOut?: LeftOut
    }
  | {
      readonly kind: 'intervals'
      readonly intervals: Intervals
      /** Of another tag, one value for each interval; `null` when none were asked for. */
      readonly aggregates: ShownAggregates | null
      readonly rest: Rest | null
    }
  | { readonly kind: 'gaps'; readonly gaps: GapPage; readonly rest: Rest | null }
  | {
      readonly kind: 'plot'
      readonly points: PointColumns
      /** Whether raw points of the range were left out, or all of them in favour of interpolated ones. */
      readonly sampled: boolean | 'interpolated'
    }
  | {
      readonly kind: 'adjacent'
      readonly before: SinglePoint | null
      readonly at: SinglePoint | null
      readonly after: SinglePoint | null
    }
  | {
      readonly kind: 'aggregates'
      /** n + 1 edges of n windows. */
      readonly edges: Float64Array
      readonly aggregates: ShownAggregates
      readonly cut: CutWindows
    }

/** Spans of a stored tag of which points may be missing. */
export interface LeftOut {
  readonly missing: readonly MissingSpan[]
  /** Why, for the log. */
  readonly cause: unknown
}

/** Whether the first, and the last, of windows of an interval is cut by the range. */
export interface CutWindows {
  readonly first: boolean
  readonly last: boolean
}

/** Shows that there is no point. @param at the requested time */
export function noPoint(at: Instant): SinglePoint {
  return { time: at, value: Number.NaN, bad: true }
}

/** The value of an operator at an instant, as a point that is BAD where there is none. */
export async function interpolatedPoint(operator: Operator, at: Instant): Promise<SinglePoint> {
  const value = (await operator.valuesAt(Float64Array.of(at)))[0]!
  return { time: at, value, bad: Number.isNaN(value) }
}

/**
 * A range shorter in microseconds than its number of points puts several of them on one instant, which is read once.
 */
export function distinctTimes(times: Float64Array): Float64Array {
  const last = times.length - 1
  if (last < 1 || times[last]! - times[0]! >= last) return times
  return Float64Array.from(new Set(times))
}
