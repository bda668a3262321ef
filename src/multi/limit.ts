import type { ErrorCode } from '../errors/codes.ts'
import type { CALL_LIMITS, LimitValues } from '../errors/limits.ts'
import { type ErrorValues, sentence } from '../errors/tidemark-error.ts'

/**
 * The limits of one call, each checked before anything is fetched; the deadline is for all of it, planning included.
 */
export type CallLimits = Omit<LimitValues<typeof CALL_LIMITS>, 'tags' | 'ranges'>

/** What a call needs, in the words of the limits. */
export interface CallTotals {
  readonly requestedPoints: number
  readonly effectiveTags: number
  /** Points that will cross the historian contract, at most; `null` while it is not worked out. */
  readonly load: Load | null
  readonly aggregateWindows: number
}

export interface Load {
  readonly points: number
  /** Of these, what would not be needed without MEDIAN. */
  readonly forMedian: number
  /** A historian stopped counting at its cap: there are at least this many. */
  readonly capped: boolean
}

/** A limit that a call is over. `message` says by how much; what to do about it is in remedy.ts. */
export interface Breach {
  readonly code: ErrorCode
  readonly limit: number
  readonly actual: number
  readonly message: string
}

const NONE: readonly Breach[] = []

function isWithin(totals: CallTotals, limits: CallLimits): boolean {
  return (
    totals.requestedPoints <= limits.requestedPoints &&
    totals.effectiveTags <= limits.effectiveTags &&
    totals.aggregateWindows <= limits.aggregateWindows &&
    (totals.load === null || totals.load.points <= limits.historianLoad)
  )
}

/** Every limit that the totals are over, in the order in which they are checked. */
export function findBreaches(totals: CallTotals, limits: CallLimits): readonly Breach[] {
  if (isWithin(totals, limits)) return NONE
  const breaches: Breach[] = []
  const check = (code: ErrorCode, limit: number, actual: number, values: ErrorValues = {}) => {
    if (actual <= limit) return
    breaches.push({ code, limit, actual, message: sentence(code, { limit, actual, ...values }) })
  }
  check('LIMIT_REQUESTED_POINTS', limits.requestedPoints, totals.requestedPoints)
  check('LIMIT_EFFECTIVE_TAGS', limits.effectiveTags, totals.effectiveTags)
  check('LIMIT_AGGREGATE_WINDOWS', limits.aggregateWindows, totals.aggregateWindows)
  if (totals.load !== null) {
    const { points, capped } = totals.load
    const actual = capped ? `at least ${points}` : points
    check('LIMIT_HISTORIAN_LOAD', limits.historianLoad, points, { actual })
  }
  return breaches
}
