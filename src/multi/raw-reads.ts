import type { RawRange } from '../calc/series.ts'
import type { Instant } from '../time/instant.ts'
import type { RawPointsRequest } from './requests.ts'

/**
 * A point beside the raw points of the range, as a boundary asks for it: the nearest raw point at or outside that side,
 * or the value exactly on it.
 */
export interface BoundaryRead {
  readonly kind: 'nearest' | 'interpolated'
  readonly find: 'before-or-at' | 'after-or-at'
  readonly at: Instant
}

/** What a RAW_POINTS request reads, in the order of its answer. */
export interface RawReads {
  /** Comes before all others; `null` too when a cursor goes on, since the first page has it. */
  readonly leading: BoundaryRead | null
  /** Whole microseconds make every boundary half-open: what excludes `from` begins one microsecond later. `null` when empty. */
  readonly range: RawRange | null
  readonly trailing: BoundaryRead | null
}

/**
 * Takes a request apart. A boundary point on the boundary itself comes from the boundary's own read, so the range then
 * leaves it out.
 */
export function rawReads(request: RawPointsRequest): RawReads {
  const { left, right, order, maxPoints, resumeAfter } = request
  let from: number = left === 'INCLUDE' ? request.from : request.from + 1
  let to: number = right === 'INCLUDE' ? request.to + 1 : request.to
  if (resumeAfter !== null && order === 'asc') from = Math.max(from, resumeAfter + 1)
  if (resumeAfter !== null && order === 'desc') to = Math.min(to, resumeAfter)
  const range = from < to ? { from: from as Instant, to: to as Instant, order, limit: maxPoints } : null

  const leftRead = boundaryRead(left, 'before-or-at', request.from)
  const rightRead = boundaryRead(right, 'after-or-at', request.to)
  const [first, last] = order === 'asc' ? [leftRead, rightRead] : [rightRead, leftRead]
  return { leading: resumeAfter === null ? first : null, range, trailing: last }
}

function boundaryRead(boundary: string, find: BoundaryRead['find'], at: Instant): BoundaryRead | null {
  if (boundary === 'NEAREST') return { kind: 'nearest', find, at }
  if (boundary === 'INTERPOLATED') return { kind: 'interpolated', find, at }
  return null
}
