import { TidemarkError } from '../errors/tidemark-error.ts'
import { AGGREGATE_NAMES, type AggregateName } from '../series/aggregate-names.ts'
import type { FindPoint } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import type { Details } from './details.ts'
import { type AggregatesRequest, BOUNDARIES, type Request } from './requests.ts'

export const DEFAULT_POINTS = 1000

/** How the details of one request type are read. */
export interface RequestType {
  /** As the interface writes it. */
  readonly name: string
  /** Names of the details that it knows; others get a warning. */
  readonly fields: readonly string[]
  /** Where its details are, for warnings. */
  readonly place: string
  /** @param now the call's */
  readonly read: (details: Details, now: Instant) => Request
}

/**
 * The request types of INTERFACE.md section 8. Whether a type fits the interface is decided here alone: parsing,
 * warnings, messages and the OpenAPI document read this table.
 */
export const REQUEST_TYPES: ReadonlyMap<string, RequestType> = new Map<string, RequestType>(
  [
    type('CURRENT_POINT', ['now'], (details, now) => {
      const before = details.optionalTime('now')
      return before === null
        ? { kind: 'current', find: 'before-or-at', at: now }
        : { kind: 'current', find: 'before', at: before }
    }),
    type('HISTORICAL_POINT', ['at'], (details) => ({ kind: 'historical', at: details.time('at') })),
    type('INTERPOLATED_POINTS', ['from', 'to', 'count', 'interval'], readInterpolated),
    type(
      'RAW_POINTS',
      ['from', 'to', 'maxPoints', 'leftBoundary', 'rightBoundary', 'order', 'cursor'],
      readRaw,
    ),
    findPoint('POINT_BEFORE', 'before'),
    findPoint('POINT_BEFORE_OR_AT', 'before-or-at'),
    findPoint('POINT_AFTER', 'after'),
    findPoint('POINT_AFTER_OR_AT', 'after-or-at'),
    type('ADJACENT_POINTS', ['at'], (details) => ({ kind: 'adjacent', at: details.time('at') })),
    type('AGGREGATED_POINTS', ['from', 'to', 'aggregates'], (details) => readAggregates(details, false)),
    type('MULTIPLE_AGGREGATED_POINTS', ['from', 'to', 'aggregates', 'count', 'interval'], (details) =>
      readAggregates(details, true),
    ),
  ].map((one) => [one.name, one]),
)

function type(name: string, fields: readonly string[], read: RequestType['read']): RequestType {
  return { name, fields, place: `the details of ${name}`, read }
}

function findPoint(name: string, find: FindPoint): RequestType {
  return type(name, ['at'], (details) => ({ kind: 'find', find, at: details.time('at') }))
}

function readRange(details: Details): { from: Instant; to: Instant } {
  const from = details.time('from')
  const to = details.time('to')
  if (from >= to) throw details.invalid('from', 'a time before to')
  return { from, to }
}

function readInterpolated(details: Details): Request {
  if (details.has('interval')) {
    if (details.has('count')) throw details.invalid('interval', 'either count or interval, not both,')
    const { duration, text } = details.duration('interval')
    return { kind: 'interpolated', ...readRange(details), grid: { kind: 'steps', interval: duration, text } }
  }
  const count = details.count('count', DEFAULT_POINTS)
  const grid = { kind: 'even', count } as const
  // A single point needs no range: it stands at `from`.
  if (count === 1 && details.time('from') === details.time('to')) {
    return { kind: 'interpolated', from: details.time('from'), to: details.time('to'), grid }
  }
  return { kind: 'interpolated', ...readRange(details), grid }
}

function readRaw(details: Details): Request {
  return {
    kind: 'raw',
    ...readRange(details),
    left: details.word('leftBoundary', BOUNDARIES, 'INCLUDE'),
    right: details.word('rightBoundary', BOUNDARIES, 'EXCLUDE'),
    order: details.word('order', ['asc', 'desc'], 'asc'),
    maxPoints: details.count('maxPoints', DEFAULT_POINTS),
    resumeAfter: null,
  }
}

function readAggregates(details: Details, multiple: boolean): AggregatesRequest {
  const names = readAggregateNames(details)
  const range = readRange(details)
  if (!multiple) return { kind: 'aggregates', ...range, names, windows: { kind: 'even', count: 1 } }
  if (details.has('interval')) {
    if (details.has('count')) throw details.invalid('interval', 'either count or interval, not both,')
    const { duration, text } = details.duration('interval')
    return { kind: 'aggregates', ...range, names, windows: { kind: 'intervals', interval: duration, text } }
  }
  if (!details.has('count'))
    throw new TidemarkError('MISSING_DETAIL', {
      type: 'MULTIPLE_AGGREGATED_POINTS',
      field: 'count or interval',
    })
  return { kind: 'aggregates', ...range, names, windows: { kind: 'even', count: details.count('count', 1) } }
}

/** The interface's names of aggregates, upper case, with ours. */
const AGGREGATE_WORDS: ReadonlyMap<string, AggregateName> = new Map([
  ...AGGREGATE_NAMES.map((name) => [name.toUpperCase(), name] as const),
  ['VAR', 'variance'] as const,
])

function readAggregateNames(details: Details): readonly AggregateName[] {
  const asked = details.texts('aggregates')
  if (asked === null) return AGGREGATE_NAMES
  const names = new Set<AggregateName>()
  for (const text of asked) {
    const name = AGGREGATE_WORDS.get(text.toUpperCase())
    if (name === undefined) throw details.invalid('aggregates', AGGREGATES_EXPECTED)
    names.add(name)
  }
  if (names.size === 0) throw details.invalid('aggregates', AGGREGATES_EXPECTED)
  return AGGREGATE_NAMES.filter((name) => names.has(name))
}

const AGGREGATES_EXPECTED =
  'an array of at least one of MIN, MAX, AVG, MEDIAN, VAR, STDDEV, FIRST, LAST, SUM, RANGE, COUNT, NUMGOOD, NUMBAD and TIMEAVG'
