import { FIXED_LIMITS } from '../../errors/limits.ts'
import type { Comparisons } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { type Details, FIXED_DURATION, readFixedDuration } from '../details.ts'

export const BOUNDARIES = ['INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED'] as const
export type Boundary = (typeof BOUNDARIES)[number]

/** The details of RAW_POINTS. */
export interface RawPointsDetails {
  readonly from: Instant
  readonly to: Instant
  readonly left: Boundary
  readonly right: Boundary
  readonly order: 'asc' | 'desc'
  /** At least 1; boundary points count too. */
  readonly maxPoints: number
  /** Time of the last point of the page before, when a cursor goes on from it. */
  readonly resumeAfter: Instant | null
  /** Points that make no difference to these may be left out; `null` for none. */
  readonly compared: Comparisons | null
}

/** More states than a tag has, each of which is a threshold. */
export const MOST_THRESHOLDS: number = FIXED_LIMITS.comparedThresholds.limit

/** The detail `compared`; `null` when it is left out. */
export function readCompared(details: Details): Comparisons | null {
  const input = details.object('compared', ['thresholds', 'maxGap'])
  if (input === null) return null
  const { thresholds, maxGap } = input
  const areNumbers = Array.isArray(thresholds) && thresholds.every((one) => Number.isFinite(one))
  if (!areNumbers || thresholds.length === 0 || thresholds.length > MOST_THRESHOLDS)
    throw details.invalid('compared', `an object with 1 to ${MOST_THRESHOLDS} numbers as thresholds`)
  if (maxGap === undefined || maxGap === null) return { thresholds }
  const maxGapUs = readFixedDuration(maxGap)
  if (maxGapUs === null) throw details.invalid('compared', `as maxGap ${FIXED_DURATION}`)
  return { thresholds, maxGapUs }
}
