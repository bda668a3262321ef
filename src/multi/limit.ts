import type { ErrorCode } from '../errors/codes.ts'
import { CALL_LIMITS, type LimitValues } from '../errors/limits.ts'
import { sentence } from '../errors/tidemark-error.ts'

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

/** Every limit that the totals are over, in the order in which they are checked. */
export function findBreaches(totals: CallTotals, limits: CallLimits): readonly Breach[] {
  const { requestedPoints, effectiveTags, aggregateWindows, load } = totals
  const counted = { requestedPoints, effectiveTags, aggregateWindows, historianLoad: load?.points ?? 0 }
  const names = Object.keys(counted) as (keyof typeof counted)[]
  return names.flatMap((name) => {
    const [limit, actual, { code }] = [limits[name], counted[name], CALL_LIMITS[name]]
    if (actual <= limit) return []
    const shown = name === 'historianLoad' && load?.capped === true ? `at least ${actual}` : actual
    return [{ code, limit, actual, message: sentence(code, { limit, actual: shown }) }]
  })
}
