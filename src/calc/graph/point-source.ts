import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import type { GapPage, GapSearch } from '../../series/gaps.ts'
import type { EdgePoint } from '../../series/interpolate.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import type {
  BoundingValues,
  Comparisons,
  FindPoint,
  Integrals,
  PlotPoints,
  RangeResult,
  SignalShape,
} from '../../series/reads.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'

export interface SinglePoint {
  readonly time: Instant
  /** NaN where there is no value. */
  readonly value: number
  readonly bad: boolean
}

/** Points as columns. @param points ascending */
export function columnsOf(points: readonly (Omit<SinglePoint, 'time'> & { time: number })[]): PointColumns {
  return {
    times: Float64Array.from(points, ({ time }) => time),
    values: Float64Array.from(points, ({ value }) => value),
    statuses: Uint8Array.from(points, ({ bad }) => (bad ? STATUS_BAD : STATUS_OK)),
  }
}

/** One of columns of points. */
export function pointOf({ times, values, statuses }: PointColumns, index: number): SinglePoint {
  const bad = statuses[index] === STATUS_BAD
  return { time: instantFromUs(times[index]!), value: values[index]!, bad }
}

/** One of columns of points as a bounding value; `null` where there is none at the index. */
export function edgeAt(
  { times, values }: Pick<PointColumns, 'times' | 'values'>,
  index: number,
): EdgePoint | null {
  const time = times[index]
  return time === undefined ? null : { time, value: values[index]! }
}

/** Raw points of [from, to), at most `limit` of them (at least 1). */
export interface RawRange {
  readonly from: Instant
  readonly to: Instant
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** A stored tag that is known to exist. */
export interface StoredTag {
  readonly historian: string
  readonly tag: string
  /** From 0 on within a call: what is kept of each tag stands in an array. */
  readonly number: number
  readonly stepped: boolean
  /** How long a good point is good for; left out for no limit. */
  readonly maxGapUs?: number
  /** Set where only comparisons are made of its points: those that make no difference are left out. */
  readonly compared?: Comparisons
  /** Names of values; left out for none. */
  readonly states?: TagStates
  readonly pushDowns: {
    readonly aggregates: readonly AggregateName[]
    readonly interpolation: boolean
    readonly integrals: boolean
    readonly plots: boolean
    readonly gaps: boolean
    /** Whether those of the signal heed `maxGapUs`. */
    readonly signalGaps: boolean
    /** Whether ranges with `compared` can be read. */
    readonly comparisons: boolean
  }
}

/**
 * Where leaves get their stored points from. One per call: equal reads are made once, ranges of a tag that overlap
 * fetch only what is missing (tag-reads.ts), reads requested in the same tick of the event loop travel to a historian
 * together, and all end with the call's deadline. src/multi/source.ts implements it over drivers. The push-downs may
 * only be called where the tag's `pushDowns` allow it.
 */
export interface PointSource {
  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null>
  range(tag: StoredTag, range: RawRange): Promise<RangeResult>
  /** As `range`, without what stored data are too damaged for: `missing` says what that is. */
  intact?(tag: StoredTag, range: RawRange): Promise<RangeResult>
  /** As `range`, for one page of a longer range that is streamed: it need not be cached for later reads. */
  page?(tag: StoredTag, range: RawRange): Promise<RangeResult>
  boundingValues(tag: StoredTag, times: Float64Array): Promise<BoundingValues>
  interpolated(tag: StoredTag, times: Float64Array, holdUntil: Instant): Promise<Float64Array>
  integrals(tag: StoredTag, starts: Float64Array, ends: Float64Array, holdUntil: Instant): Promise<Integrals>
  aggregates(
    tag: StoredTag,
    edges: Float64Array,
    names: readonly AggregateName[],
    holdUntil: Instant,
  ): Promise<AggregateColumns>
  plot(tag: StoredTag, edges: Float64Array): Promise<PlotPoints>
  gaps(tag: StoredTag, search: GapSearch): Promise<GapPage>
}

/**
 * How the signal of a tag runs between its good points. @param holdUntil where the last one's hold ends at the latest
 */
export function shapeOf({ stepped, maxGapUs }: StoredTag, holdUntil: Instant): SignalShape {
  return maxGapUs === undefined ? { stepped, holdUntil } : { stepped, holdUntil, maxGapUs }
}
