import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { PointColumns } from '../series/columns.ts'
import type { Side } from '../series/interpolate.ts'
import type { FindPoint, Integrals, Neighbours, RangeResult } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'

/**
 * A series as every request type sees it: a stored tag, a constant, or a calculation over other series. Made by
 * src/calc/compile.ts from a tag tree for one request; each request type is written once against this interface, and a
 * calculation is written once for all request types.
 *
 * Values are columns of doubles with NaN for "no value". `now` (the end of the last good point's hold) and the zone are
 * fixed when the series is made.
 */
export interface Series {
  /** Held until the next raw point, or linear between raw points. */
  readonly stepped: boolean
  /** What the values depend on: nothing (a constant), the time alone, or stored data. */
  readonly varies: 'nothing' | 'time' | 'data'
  /**
   * Whether between two raw points the values already lie on the line from the value at the first to the left limit at
   * the second, which is what integrals take the signal for. A product of two linear tags does not.
   */
  readonly straight: boolean

  /**
   * Instants at which values that were held end, or go on with another value: all that there can be, in any order. `now`
   * when this is left out.
   */
  readonly holdEnds?: readonly Instant[]

  /**
   * The same raw points with the signal held from each good one to the next. Only series whose signal is that of their
   * good raw points, held or joined by lines, have it.
   * @param pushDowns false: whatever is asked of it is worked out from its points and by no historian
   */
  held?(pushDowns: boolean): Series

  /**
   * The good raw point next to an instant, `null` when there is none: costs two points, however many BAD ones it passes by,
   * and is planned as two values. Series that have to read these do not have it.
   */
  goodPoint?(find: FindPoint, at: Instant): Promise<SinglePoint | null>

  /**
   * Says which underlying reads an ask will need, without fetching anything. Whatever the methods below fetch for this
   * ask must be covered: the ledger's cost is never below the points that cross the historian contract.
   */
  plan(ask: Ask, ledger: Ledger): void

  /** Value at each time. @param times ascending, distinct; the same array object for the same grid, so that reads are shared */
  valuesAt(times: Float64Array): Promise<Float64Array>
  /** The current point: the last one of find 'before' or 'before-or-at' an instant; `null` when there is none. */
  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null>
  /** The raw point next to an instant; `null` when there is none. */
  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null>
  /** Raw points of [from, to), at most `limit` of them. */
  rawPoints(range: RawRange): Promise<RangeResult>
  /** Time of the raw point next to an instant; `null` when there is none. */
  rawTime(find: FindPoint, at: Instant): Promise<Instant | null>
  /** The series in memory, stretch by stretch: how calculations over raw points read their inputs. Fetches when pulled. */
  pieces(range: PieceRange): PieceStream
  /** Integrals over spans that do not overlap, ascending. */
  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals>
  /** Aggregates over windows that join: n + 1 edges. */
  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns>
}

export interface SinglePoint {
  readonly time: Instant
  /** NaN where there is no value. */
  readonly value: number
  readonly bad: boolean
}

export interface CurrentPoint {
  /** `null` when the series has no timestamp of its own (constants): it then takes that of its companions, or `now`. */
  readonly time: Instant | null
  readonly value: number
  readonly bad: boolean
}

export interface RawRange {
  readonly from: Instant
  /** Excluded. */
  readonly to: Instant
  readonly order: 'asc' | 'desc'
  /** At least 1. */
  readonly limit: number
}

/** A range to be read in pieces. */
export interface PieceRange {
  readonly from: Instant
  /** Excluded for raw points; values can still be asked at it. Above `from`. */
  readonly to: Instant
  /** From which end it is read. */
  readonly order: 'asc' | 'desc'
  /** About how many raw points of each stored tag are read at a time; at least 2. */
  readonly page: number
  /**
   * Whether only the first piece is wanted, which then has at least `page - 1` raw points or covers the whole range; or
   * all of them, and then no stored point is fetched twice.
   */
  readonly extent: 'first' | 'all'
  /**
   * Where the range begins that is really wanted, when this one reaches out to the raw point before it. What must look
   * further back still from there then knows how far that can be.
   */
  readonly wantedFrom?: Instant
  /** The same for its end. */
  readonly wantedTo?: Instant
}

export interface PieceStream {
  /** The piece that joins the one before; `null` after the last, with which the range is covered. One pull at a time. */
  next(): Promise<Piece | null>
}

/** A stretch of a series in memory: its raw points, and its value at any time inside, without further reads. */
export interface Piece {
  readonly from: Instant
  /** Excluded for raw points; values can still be asked at it. */
  readonly to: Instant
  /** Ascending, whatever the order of the stream. */
  readonly raw: PointColumns
  /**
   * Values at ascending times within [from, to]; `before` gives the limit from the left, which differs where a stepped
   * signal switches.
   */
  valuesAt(times: Float64Array, side: Side): Float64Array
  /**
   * Limits from the right at ascending times within [from, to); absent where they are the values. They differ only at raw
   * points one microsecond before another: a comparison that ends at an instant still holds there, and no longer after it.
   */
  valuesAfter?(times: Float64Array): Float64Array
}

/** What will be asked of a series, known before anything is fetched. */
export type Ask =
  /** `valuesAt` of `count` times within [from, to]; `grid` names the grid, so that equal reads count once. */
  | {
      readonly kind: 'values'
      readonly grid: string
      readonly count: number
      readonly from: Instant
      readonly to: Instant
      /**
       * Set for one time that is not known yet: the raw time next to this instant of a series that has all raw times of
       * the one asked, and maybe nearer ones.
       */
      readonly near?: { readonly find: FindPoint; readonly at: Instant }
    }
  | { readonly kind: 'current'; readonly find: 'before' | 'before-or-at'; readonly at: Instant }
  | { readonly kind: 'point'; readonly find: FindPoint; readonly at: Instant }
  /** With `near` for an instant near `at` that is not known yet; equal names are equal instants. */
  | {
      readonly kind: 'raw-time'
      readonly find: FindPoint
      readonly at: Instant
      readonly near?: string
      /** Asked for so many instants at once; 1 when left out. */
      readonly count?: number
    }
  | ({ readonly kind: 'raw' } & RawRange)
  /**
   * `pieces` of a range. With `widened` the range begins and ends at raw times outside [from, to) that are not known yet,
   * up to one raw point of each tag further, or lies anywhere inside; equal names are equal ranges.
   */
  | ({
      readonly kind: 'pieces'
      readonly widened: string | null
      /** Set when it lies inside [from, to), and does not reach out of it. */
      readonly inside?: true
    } & PieceRange)
  | {
      readonly kind: 'integrals'
      readonly grid: string
      readonly spans: number
      readonly from: Instant
      readonly to: Instant
    }
  | {
      readonly kind: 'aggregates'
      readonly grid: string
      readonly windows: number
      readonly from: Instant
      readonly to: Instant
      readonly names: readonly AggregateName[]
      /** Set when the windows may begin later and end earlier than the range, so that it is no read of that range. */
      readonly inside?: true
    }

/** A planned read of one stored tag. */
export interface PlannedRead {
  readonly historian: string
  readonly tag: string
  /** Equal keys are one read, counted once per call. */
  readonly key: string
  /** What the historian computes itself, if it does. */
  readonly pushDown: 'aggregates' | 'interpolation' | 'integrals' | null
  /** Points that cross the historian contract, at most. */
  readonly atMost: number
  /** Where the number depends on what is stored: at most the points in [from, to) plus `extra`. */
  readonly stored: { readonly from: Instant; readonly to: Instant; readonly extra: number } | null
  /** Read only because MEDIAN was asked for. */
  readonly forMedian: boolean
}

/** Collects the reads of a call while it is planned. */
export interface Ledger {
  add(read: PlannedRead): void
}

/** A stored tag that is known to exist. */
export interface StoredTag {
  readonly historian: string
  readonly tag: string
  readonly stepped: boolean
  readonly pushDowns: {
    readonly aggregates: readonly AggregateName[]
    readonly interpolation: boolean
    readonly integrals: boolean
  }
}

/**
 * Where series get their stored points from. One per call: equal reads are made once, reads asked for in the same turn
 * travel to a historian together, and all end with the call's deadline. src/multi/source.ts implements it over drivers.
 * The push-downs may only be called where the tag's `pushDowns` allow it.
 */
export interface SeriesSource {
  point(tag: StoredTag, find: FindPoint, at: Instant): Promise<SinglePoint | null>
  range(tag: StoredTag, range: RawRange): Promise<RangeResult>
  /**
   * As `range`, for one page of a longer range that is streamed: equal reads are shared, but once a call has streamed a
   * million points or so they are no longer kept for the rest of it, so that a year's total never holds a year.
   * Absent: `range` is used.
   */
  page?(tag: StoredTag, range: RawRange): Promise<RangeResult>
  neighbours(tag: StoredTag, times: Float64Array): Promise<Neighbours>
  interpolated(tag: StoredTag, times: Float64Array, holdUntil: Instant): Promise<Float64Array>
  integrals(tag: StoredTag, starts: Float64Array, ends: Float64Array, holdUntil: Instant): Promise<Integrals>
  aggregates(
    tag: StoredTag,
    edges: Float64Array,
    names: readonly AggregateName[],
    holdUntil: Instant,
  ): Promise<AggregateColumns>
}

/** What a series is made in: fixed for one request of a call. */
export interface SeriesContext {
  readonly source: SeriesSource
  /** The call's `now`: reference of relative times, end of the last good point's hold. */
  readonly now: Instant
  readonly zone: TimeZone
  /** The request's range; [t, t] for one instant. Range-dependent functions lay their windows from it. */
  readonly range: { readonly from: Instant; readonly to: Instant }
  /** Microseconds between the points of an INTERPOLATED_POINTS request; absent for all others and for a single point. */
  readonly spacingUs?: number
  /** Aborted when the call is over: long evaluations that fetch nothing end with it too. */
  readonly signal?: AbortSignal
  /** Points of a page when a tag is streamed; 20,000 when left out. */
  readonly pagePoints?: number
}
