import type { Instant } from '../time/instant.ts'
import type { PointColumns } from './columns.ts'

/** Which raw point next to an instant is meant. */
export type FindPoint = 'before' | 'before-or-at' | 'after' | 'after-or-at'

/** Raw points of a range, as far as a limit allowed. */
export interface RangeResult {
  /** In the requested order: descending times for 'desc'. */
  readonly points: PointColumns
  /** Whether the range holds points beyond the limit. */
  readonly more: boolean
  /**
   * What was left out because stored data are damaged, as far as the points reach: in time order, apart from each
   * other. Left out where nothing was; only of reads that allow it.
   */
  readonly missing?: readonly MissingSpan[]
}

/** [from, to) in microseconds: points of it may be missing. */
export interface MissingSpan {
  readonly from: number
  readonly to: number
}

/**
 * Bounding values: per requested time the good point at or before it and the good point at or after it; times NaN where
 * there is none.
 */
export interface BoundingValues {
  readonly beforeTimes: Float64Array
  readonly beforeValues: Float64Array
  readonly afterTimes: Float64Array
  readonly afterValues: Float64Array
}

/** How the signal of a tag runs between its good points. */
export interface SignalShape {
  /** Held until the next good point (true) or on the line between good points (false). */
  readonly stepped: boolean
  /** The last good point holds until here (the call's `now`) and has no value beyond. */
  readonly holdUntil: Instant
  /**
   * How long a good point at t is good for, above 0; left out for no limit. Where no good one comes within
   * [t, t + maxGapUs) a stepped signal ends there until the next one, and a linear one has no value strictly between
   * two good points further apart; both keep the last one's value no longer.
   */
  readonly maxGapUs?: number
}

/** Integrals of a signal, one entry per span. */
export interface Integrals {
  /** In the tag's unit times microseconds; segments without a value add nothing. */
  readonly integrals: Float64Array
  /** Microseconds of the span in which the signal has a value. */
  readonly coveredUs: Float64Array
}

/** Points of a chart, as src/series/plot.ts chooses them. */
export interface PlotPoints {
  /** Ascending; breaks are BAD points without a value. */
  readonly points: PointColumns
  /** Whether raw points of the range were left out. */
  readonly sampled: boolean
}

/** What points are compared with: a read may leave out points that make no difference. */
export interface Comparisons {
  /** Not empty. */
  readonly thresholds: readonly number[]
  /** How long a good point is good for, as in SignalShape. */
  readonly maxGapUs?: number
}
