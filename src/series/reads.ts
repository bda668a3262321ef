import type { Instant } from '../time/instant.ts'
import type { PointColumns } from './columns.ts'

/** Which raw point next to an instant is meant. */
export type FindPoint = 'before' | 'before-or-at' | 'after' | 'after-or-at'

/** Raw points of a range, as far as a limit allowed. */
export interface RangeResult {
  /** In the order asked: descending times for 'desc'. */
  readonly points: PointColumns
  /** Whether the range holds points beyond the limit. */
  readonly more: boolean
}

/** Per asked time the good point at or before it and the good point at or after it; times NaN where there is none. */
export interface Neighbours {
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
}

/** Integrals of a signal, one entry per span. */
export interface Integrals {
  /** In the tag's unit times microseconds; stretches without a value add nothing. */
  readonly integrals: Float64Array
  /** Microseconds of the span in which the signal has a value. */
  readonly coveredUs: Float64Array
}
