import type { Instant } from '../../time/instant.ts'
import { isRange } from '../cursor.ts'
import type { Details } from '../details.ts'
import type { AskedAggregates } from './asked-aggregates.ts'
import { GapsRequest } from './gaps.ts'
import { IntervalsRequest } from './intervals.ts'
import type { Request } from './request.ts'

const DEFAULT_INTERVALS = 1000

export function readIntervals(
  details: Details,
  range: Request['range'],
  readAsked: (details: Details) => AskedAggregates,
): Request {
  return new IntervalsRequest({
    ...range,
    ...limitOf(details),
    resumeAt: null,
    mergeUs: details.fixedDuration('mergeWithin') ?? 0,
    minUs: details.fixedDuration('minDuration') ?? 0,
    aggregated: aggregatedOf(details, readAsked),
  })
}

/** The request of a cursor; `null` for fields that no page has left. */
export function resumeIntervals(
  details: Details,
  fields: readonly unknown[],
  readAsked: (details: Details) => AskedAggregates,
): Request | null {
  const [from, to, mergeUs, minUs, resumeAt] = fields
  if (fields.length !== 5 || !isRange(from, to) || !isRange(from, resumeAt)) return null
  if (!isLength(mergeUs) || !isLength(minUs)) return null
  return new IntervalsRequest({
    from: from as Instant,
    to: to as Instant,
    resumeAt: resumeAt as Instant,
    mergeUs,
    minUs,
    ...limitOf(details),
    aggregated: aggregatedOf(details, readAsked),
  })
}

export function readGaps(details: Details, range: Request['range']): Request {
  const longerThanUs = details.fixedDuration('longerThan') ?? details.missing('longerThan')
  return new GapsRequest({ ...range, ...limitOf(details), longerThanUs, resumeAt: null })
}

/** The request of a cursor; `null` for fields that no page has left. */
export function resumeGaps(details: Details, fields: readonly unknown[]): Request | null {
  const [from, to, longerThanUs, resumeAt] = fields
  if (fields.length !== 4 || !isRange(from, to) || !isRange(from, resumeAt) || !isLength(longerThanUs))
    return null
  return new GapsRequest({
    from: from as Instant,
    to: to as Instant,
    resumeAt: resumeAt as Instant,
    longerThanUs,
    ...limitOf(details),
  })
}

function limitOf(details: Details): { readonly limit: number } {
  return { limit: details.count('maxIntervals', DEFAULT_INTERVALS) }
}

function aggregatedOf(details: Details, readAsked: (details: Details) => AskedAggregates) {
  const address = details.text('aggregatesOf')
  if (address !== null) return { address, asked: readAsked(details) }
  for (const field of ['aggregates', 'per']) {
    if (details.has(field)) throw details.invalid(field, 'aggregatesOf, the tag to be aggregated, beside it')
  }
  return null
}

function isLength(us: unknown): us is number {
  return typeof us === 'number' && Number.isSafeInteger(us) && us >= 0
}
