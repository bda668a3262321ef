import type { FindPoint } from '../../series/reads.ts'
import { intervalWindows, wholeWindows } from '../../time/grid.ts'
import type { Instant } from '../../time/instant.ts'
import { parseWindowAnchor } from '../../time/window-anchor.ts'
import type { Details } from '../details.ts'
import { readAggregateNames } from './aggregate-words.ts'
import { AggregatesRequest, type Windows } from './aggregates.ts'
import { InterpolatedPointsRequest } from './interpolated.ts'
import { readGaps, readIntervals, resumeGaps, resumeIntervals } from './interval-details.ts'
import { LastPointsRequest } from './last.ts'
import { MOST_COLUMNS, PlotRequest } from './plot.ts'
import {
  AdjacentPointsRequest,
  CurrentPointRequest,
  FindPointRequest,
  HistoricalPointRequest,
} from './points.ts'
import { RawPointsRequest, resumeRawPoints } from './raw.ts'
import { BOUNDARIES, readCompared } from './raw-details.ts'
import type { Request } from './request.ts'

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
  /** Goes on from the fields of a cursor, `null` for made-up ones. Only types that have pages. */
  readonly resume?: (details: Details, fields: readonly unknown[]) => Request | null
}

/**
 * The request types of INTERFACE.md section 8. Whether a type fits the interface is decided here alone: parsing,
 * warnings, messages and the OpenAPI document read this table.
 */
export const REQUEST_TYPES: ReadonlyMap<string, RequestType> = new Map<string, RequestType>(
  [
    rawType('CURRENT_POINT', ['now'], (details, now) => {
      const before = details.optionalTime('now')
      return before === null
        ? new CurrentPointRequest('before-or-at', now)
        : new CurrentPointRequest('before', before)
    }),
    type('HISTORICAL_POINT', ['at'], (details) => new HistoricalPointRequest(details.time('at'))),
    type('INTERPOLATED_POINTS', ['from', 'to', 'count', 'interval'], readInterpolated),
    rawType(
      'RAW_POINTS',
      ['from', 'to', 'maxPoints', 'leftBoundary', 'rightBoundary', 'order', 'cursor', 'last', 'compared'],
      readRaw,
      (details, fields) =>
        resumeRawPoints(fields, {
          maxPoints: details.count('maxPoints', DEFAULT_POINTS),
          compared: readCompared(details),
        }),
    ),
    findPoint('POINT_BEFORE', 'before'),
    findPoint('POINT_BEFORE_OR_AT', 'before-or-at'),
    findPoint('POINT_AFTER', 'after'),
    findPoint('POINT_AFTER_OR_AT', 'after-or-at'),
    type('ADJACENT_POINTS', ['at'], (details) => new AdjacentPointsRequest(details.time('at'))),
    type('AGGREGATED_POINTS', ['from', 'to', 'aggregates', 'per'], (details) =>
      readAggregates(details, false),
    ),
    type(
      'MULTIPLE_AGGREGATED_POINTS',
      ['from', 'to', 'aggregates', 'per', 'count', 'interval', 'anchor', 'whole'],
      (details) => readAggregates(details, true),
    ),
    type(
      'INTERVALS',
      [
        'from',
        'to',
        'minDuration',
        'mergeWithin',
        'maxIntervals',
        'cursor',
        'aggregatesOf',
        'aggregates',
        'per',
      ],
      (details) => readIntervals(details, readRange(details), readAggregateNames),
      (details, fields) => resumeIntervals(details, fields, readAggregateNames),
    ),
    type(
      'GAPS',
      ['from', 'to', 'longerThan', 'maxIntervals', 'cursor'],
      (details) => readGaps(details, readRange(details)),
      resumeGaps,
    ),
    type('PLOT', ['from', 'to', 'width', 'fallback'], readPlot),
  ].map((one) => [one.name, one]),
)

/** A request of the signal, which every one that is not `rawType` is. */
function type(
  name: string,
  fields: readonly string[],
  read: RequestType['read'],
  resume?: RequestType['resume'],
): RequestType {
  return rawType(name, [...fields, 'maxGap'], read, resume)
}

/** A request of raw points alone, which `maxGap` never changes. */
function rawType(
  name: string,
  fields: readonly string[],
  read: RequestType['read'],
  resume?: RequestType['resume'],
): RequestType {
  const one = { name, fields, place: `the details of ${name}`, read }
  return resume === undefined ? one : { ...one, resume }
}

function findPoint(name: string, find: FindPoint): RequestType {
  return rawType(name, ['at'], (details) => new FindPointRequest(find, details.time('at')))
}

function readRange(details: Details): { from: Instant; to: Instant } {
  const from = details.time('from')
  const to = details.endTime('to')
  if (from >= to) throw details.invalid('from', 'a time before to')
  return { from, to }
}

function readInterpolated(details: Details): Request {
  if (details.has('interval')) {
    if (details.has('count')) throw details.invalid('interval', 'either count or interval, not both,')
    const { duration, text } = details.duration('interval')
    return new InterpolatedPointsRequest(readRange(details), { kind: 'steps', interval: duration, text })
  }
  const count = details.count('count', DEFAULT_POINTS)
  const grid = { kind: 'even', count } as const
  // A single point needs no range: it stands at `from`.
  if (count === 1 && details.time('from') === details.endTime('to')) {
    const at = details.time('from')
    return new InterpolatedPointsRequest({ from: at, to: at }, grid)
  }
  return new InterpolatedPointsRequest(readRange(details), grid)
}

function readRaw(details: Details): Request {
  if (details.has('last')) return readLast(details)
  return new RawPointsRequest({
    ...readRange(details),
    left: details.word('leftBoundary', BOUNDARIES, 'INCLUDE'),
    right: details.word('rightBoundary', BOUNDARIES, 'EXCLUDE'),
    order: details.word('order', ['asc', 'desc'], 'asc'),
    maxPoints: details.count('maxPoints', DEFAULT_POINTS),
    resumeAfter: null,
    compared: readCompared(details),
  })
}

function readLast(details: Details): Request {
  for (const field of ['from', 'maxPoints', 'cursor', 'compared']) {
    if (details.has(field)) throw details.invalid('last', `either last or ${field}, not both,`)
  }
  const order = details.word('order', ['asc', 'desc'], 'asc')
  return new LastPointsRequest(details.endTime('to'), details.count('last', 1), order)
}

function readPlot(details: Details): Request {
  if (!details.has('width')) details.missing('width')
  const width = details.count('width', 1)
  if (width > MOST_COLUMNS) throw details.invalid('width', `a whole number from 1 to ${MOST_COLUMNS}`)
  const fallback = details.has('fallback') && details.word('fallback', ['interpolated'], 'interpolated')
  return new PlotRequest(readRange(details), width, { fallsBack: fallback === 'interpolated' })
}

function readAggregates(details: Details, multiple: boolean): AggregatesRequest {
  const asked = readAggregateNames(details)
  const range = readRange(details)
  if (!multiple) return new AggregatesRequest(range, asked, { kind: 'even', count: 1 })
  const whole = details.flag('whole')
  if (details.has('interval')) {
    if (details.has('count')) throw details.invalid('interval', 'either count or interval, not both,')
    const windows = readWindows(details)
    const { from, to } = range
    return new AggregatesRequest(whole ? wholeWindows(from, to, windows.find) : range, asked, windows)
  }
  if (details.has('anchor')) throw details.invalid('anchor', 'an interval beside it')
  if (whole) throw details.invalid('whole', 'an interval beside it')
  if (!details.has('count')) details.missing('count or interval')
  return new AggregatesRequest(range, asked, { kind: 'even', count: details.count('count', 1) })
}

function readWindows(details: Details): Windows & { readonly kind: 'intervals' } {
  const { duration: interval, text } = details.duration('interval')
  const anchor = details.text('anchor')
  const boundaries = anchor === null ? null : parseWindowAnchor(anchor, interval)
  if (boundaries !== null && 'expected' in boundaries) throw details.invalid('anchor', boundaries.expected)
  const find = intervalWindows(interval, boundaries, details.zone)
  return { kind: 'intervals', interval, text: `${text} ${anchor ?? ''}`, find }
}
