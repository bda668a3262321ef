import type { SeriesContext } from '../calc/series.ts'
import type { AggregateName } from '../series/aggregate-names.ts'
import type { FindPoint } from '../series/reads.ts'
import type { Duration } from '../time/duration.ts'
import type { Instant } from '../time/instant.ts'
import { nominalUs } from '../time/windows.ts'

/** A request of one label with its details understood; times are resolved, nothing is fetched yet. */
export type Request =
  | CurrentPointRequest
  | HistoricalPointRequest
  | InterpolatedPointsRequest
  | RawPointsRequest
  | FindPointRequest
  | AdjacentPointsRequest
  | AggregatesRequest

/** Without `now` in the details: the last point at or before the call's `now`; with it, strictly before it. */
export interface CurrentPointRequest {
  readonly kind: 'current'
  readonly find: 'before' | 'before-or-at'
  readonly at: Instant
}

export interface HistoricalPointRequest {
  readonly kind: 'historical'
  readonly at: Instant
}

/** `count` points evenly from `from` to `to`, or one at each step of `interval`. */
export interface InterpolatedPointsRequest {
  readonly kind: 'interpolated'
  readonly from: Instant
  readonly to: Instant
  readonly grid:
    | { readonly kind: 'even'; readonly count: number }
    | { readonly kind: 'steps'; readonly interval: Duration; readonly text: string }
}

export const BOUNDARIES = ['INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED'] as const
export type Boundary = (typeof BOUNDARIES)[number]

export interface RawPointsRequest {
  readonly kind: 'raw'
  readonly from: Instant
  readonly to: Instant
  readonly left: Boundary
  readonly right: Boundary
  readonly order: 'asc' | 'desc'
  /** At least 1; boundary points count too. */
  readonly maxPoints: number
  /** Time of the last point of the page before, when a cursor goes on from it. */
  readonly resumeAfter: Instant | null
}

/** POINT_BEFORE and its three siblings. */
export interface FindPointRequest {
  readonly kind: 'find'
  readonly find: FindPoint
  readonly at: Instant
}

/** A request that one raw point answers. */
export type PointRequest = CurrentPointRequest | FindPointRequest

export function isPoint(request: Request): request is PointRequest {
  return request.kind === 'current' || request.kind === 'find'
}

export interface AdjacentPointsRequest {
  readonly kind: 'adjacent'
  readonly at: Instant
}

/** AGGREGATED_POINTS is the single window [from, to). */
export interface AggregatesRequest {
  readonly kind: 'aggregates'
  readonly from: Instant
  readonly to: Instant
  readonly names: readonly AggregateName[]
  readonly windows:
    | { readonly kind: 'even'; readonly count: number }
    | { readonly kind: 'intervals'; readonly interval: Duration; readonly text: string }
}

/** Microseconds between the points of INTERPOLATED_POINTS, on average where steps are of a calendar; `null` for all others. */
function spacingOf(request: Request): number | null {
  if (request.kind !== 'interpolated') return null
  const { from, to, grid } = request
  if (grid.kind === 'steps') return nominalUs(grid.interval)
  return grid.count > 1 && from < to ? (to - from) / (grid.count - 1) : null
}

/** What the series of a request is made in, beside the call's own. */
export function contextOf(request: Request): Pick<SeriesContext, 'range' | 'spacingUs'> {
  const range = rangeOf(request)
  const spacingUs = spacingOf(request)
  return spacingUs === null ? { range } : { range, spacingUs }
}

/** The range that a request is about; [t, t] for one instant. */
export function rangeOf(request: Request): { readonly from: Instant; readonly to: Instant } {
  return 'at' in request ? { from: request.at, to: request.at } : { from: request.from, to: request.to }
}
