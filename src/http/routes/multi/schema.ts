import { AGGREGATE_WORDS } from '../../../multi/requests/aggregate-words.ts'
import { MOST_COLUMNS } from '../../../multi/requests/plot.ts'
import { MOST_THRESHOLDS } from '../../../multi/requests/raw-details.ts'
import { COMMON } from '../../openapi/schemas.ts'
import { listOf, mapOf, type Operation, object, type Schema, shared } from '../../openapi/types.ts'

const time = shared('Timestamp')
const optionalTime = shared('OptionalTimestamp')
const count = (description: string): Schema => ({ type: ['integer', 'null'], minimum: 1, description })
const word = (words: readonly string[], description: string): Schema => ({
  type: ['string', 'null'],
  enum: [...words, null],
  description,
})
const interval: Schema = {
  type: ['string', 'number', 'null'],
  description: 'A duration such as `10s`, `1h`, `1d` or `1mo`; a number is milliseconds.',
}
const aggregates: Schema = {
  ...listOf({ type: 'string', enum: [...AGGREGATE_WORDS] }),
  type: ['array', 'null'],
  minItems: 1,
  description: 'Taken in any case; the first fourteen when left out.',
}
const anchor: Schema = {
  type: ['string', 'null'],
  description:
    'With interval: the local time at which windows begin, such as `06:00`; for weeks also `sunday 06:00`, for months `15 06:00`, for years `10-01 06:00`.',
}
const whole: Schema = {
  type: ['boolean', 'null'],
  description:
    'With interval: widens the range to whole windows instead of cutting the first and the last one.',
}
const per: Schema = {
  type: ['string', 'number', 'null'],
  description:
    'Time unit of the rate that TOTAL adds up, such as `1s`, `1min`, `1h` or `1d`; needed with TOTAL.',
}
const boundary = (side: string, otherwise: string): Schema =>
  word(
    ['INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED'],
    `What stands at the ${side} boundary; ${otherwise} when left out. NEAREST adds the nearest raw point outside, INTERPOLATED a point exactly on it.`,
  )
const to = {
  ...optionalTime,
  description: 'The `now` of the call when left out.',
}
const range = { from: time, to }
const maxGap: Schema = {
  type: ['string', 'number', 'null'],
  description:
    'How long good points of the stored tags are good for, in place of `maxGap` of their metadata: a duration of a fixed length above 0, or milliseconds.',
  examples: ['5min'],
}

const cursor: Schema = {
  type: ['string', 'null'],
  description:
    '`next` of the page before; the range, and all else that says where it goes on, then comes from it.',
}
const length = (description: string): Schema => ({
  ...interval,
  description: `${description} A duration of a fixed length such as \`10s\`, \`1h\` or \`1d\`, which is 24 hours; a number is milliseconds.`,
})

/** The details of each request type, as the reference shows them. */
const DETAILS: { readonly [type: string]: { readonly schema: Schema; readonly isOptional?: boolean } } = {
  CURRENT_POINT: {
    isOptional: true,
    schema: object({
      now: {
        ...optionalTime,
        description:
          'The last point strictly before it; without it the last at or before the `now` of the call.',
      },
    }),
  },
  HISTORICAL_POINT: { schema: object({ at: time, maxGap }, ['at']) },
  INTERPOLATED_POINTS: {
    schema: object(
      { ...range, count: count('1000 when left out; not together with interval.'), interval, maxGap },
      ['from'],
    ),
  },
  RAW_POINTS: {
    schema: object({
      ...range,
      maxPoints: count('1000 when left out.'),
      leftBoundary: boundary('left', 'INCLUDE'),
      rightBoundary: boundary('right', 'EXCLUDE'),
      order: word(['asc', 'desc'], '`asc` when left out; `desc` is newest first.'),
      last: count(
        'The newest points before `to`, in place of from, maxPoints and cursor; boundaries are ignored.',
      ),
      cursor,
      compared: {
        ...object(
          {
            thresholds: { ...listOf({ type: 'number' }), minItems: 1, maxItems: MOST_THRESHOLDS },
            maxGap: {
              ...maxGap,
              description: 'How long good points are good for; without limit when left out.',
            },
          },
          ['thresholds'],
        ),
        type: ['object', 'null'],
        description:
          'Leaves out points of a stored tag that make no difference to whether its signal is above, on or below each threshold.',
      },
    }),
  },
  POINT_BEFORE: { schema: object({ at: time }, ['at']) },
  POINT_BEFORE_OR_AT: { schema: object({ at: time }, ['at']) },
  POINT_AFTER: { schema: object({ at: time }, ['at']) },
  POINT_AFTER_OR_AT: { schema: object({ at: time }, ['at']) },
  ADJACENT_POINTS: { schema: object({ at: time, maxGap }, ['at']) },
  AGGREGATED_POINTS: { schema: object({ ...range, aggregates, per, maxGap }, ['from']) },
  MULTIPLE_AGGREGATED_POINTS: {
    schema: object(
      {
        ...range,
        aggregates,
        per,
        count: count('So many equal windows; this or interval.'),
        interval,
        anchor,
        whole,
        maxGap,
      },
      ['from'],
    ),
  },
  INTERVALS: {
    schema: object(
      {
        ...range,
        minDuration: length('Shorter intervals are left out, unless they are open.'),
        mergeWithin: length('Pauses of 0 up to this long do not end an interval.'),
        maxIntervals: count('1000 when left out.'),
        cursor,
        aggregatesOf: {
          type: ['string', 'null'],
          description: 'A tag or calculation whose aggregates over each interval are given with it.',
        },
        aggregates,
        per,
        maxGap,
      },
      ['from'],
    ),
  },
  GAPS: {
    schema: object(
      {
        ...range,
        longerThan: {
          ...length('Shorter gaps, and those just as long, are left out.'),
          type: ['string', 'number'],
        },
        maxIntervals: count('1000 when left out.'),
        cursor,
        maxGap,
      },
      ['from', 'longerThan'],
    ),
  },
  PLOT: {
    schema: object(
      {
        ...range,
        width: {
          type: 'integer',
          minimum: 1,
          maximum: MOST_COLUMNS,
          description: 'Columns of the chart: pixels, usually.',
        },
        fallback: word(
          ['interpolated'],
          'Where the raw points are more than the call may read: refused, or as many interpolated points as columns.',
        ),
        maxGap,
      },
      ['from', 'width'],
    ),
  },
}

/** The request types that the reference describes, in its order. */
export const DOCUMENTED_TYPES: readonly string[] = Object.keys(DETAILS)

/** `RawPointsRequest` of RAW_POINTS. */
function requestName(type: string): string {
  const words = type.split('_').map((word) => word[0]! + word.slice(1).toLowerCase())
  return `${words.join('')}Request`
}

const REQUESTS: { readonly [name: string]: Schema } = Object.fromEntries(
  Object.entries(DETAILS).map(([type, { schema, isOptional }]) => [
    requestName(type),
    object(
      {
        type: { type: 'string', const: type },
        tag: {
          type: 'string',
          description:
            '`<historian_name>/<tag_name>`, or a calculation such as `calc/ADD(plant/A, plant/B)`.',
        },
        details: isOptional ? { ...schema, type: ['object', 'null'] } : schema,
      },
      isOptional ? ['type', 'tag'] : ['type', 'tag', 'details'],
    ),
  ]),
)
const request: Schema = {
  oneOf: Object.keys(REQUESTS).map(shared),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(
      DOCUMENTED_TYPES.map((type) => [type, `#/components/schemas/${requestName(type)}`]),
    ),
  },
}

const points: Schema = { oneOf: [listOf(shared('Point')), shared('PointColumns')] }
const maybePoint: Schema = { oneOf: [shared('Point'), { type: 'null' }] }
const RESULTS: { readonly [name: string]: Schema } = {
  PointResult: object({ dataPoint: shared('Point') }, ['dataPoint']),
  PointsResult: object(
    {
      dataPoints: points,
      sampled: {
        type: ['boolean', 'string'],
        enum: [true, false, 'interpolated'],
        description: 'Of PLOT: whether raw points of the range were left out, or all are interpolated.',
      },
      enumDictionary: {
        ...mapOf({ type: 'string' }, 'Of RAW_POINTS of a tag with `states`: their names by number.'),
        examples: [{ '0': 'Closed', '1': 'Open' }],
      },
    },
    ['dataPoints'],
  ),
  AdjacentPointsResult: object({ before: maybePoint, at: maybePoint, after: maybePoint }, [
    'before',
    'at',
    'after',
  ]),
  AggregatesResult: object(
    { aggregates: { oneOf: [listOf(shared('Aggregates')), shared('AggregateColumns')] } },
    ['aggregates'],
  ),
  IntervalsResult: object(
    {
      intervals: {
        oneOf: [
          listOf(shared('Interval')),
          listOf(shared('Gap')),
          shared('IntervalColumns'),
          shared('GapColumns'),
        ],
      },
    },
    ['intervals'],
  ),
}
const result: Schema = { oneOf: Object.keys(RESULTS).map(shared) }

const countOf = { type: 'integer', minimum: 0 }
const totals = { requestedPoints: countOf, effectiveTags: countOf, load: countOf, aggregateWindows: countOf }
const Explain: Schema = {
  ...object(
    {
      allowed: { type: 'boolean' },
      reasons: listOf({ type: 'string' }, 'The sentence of each limit that would be broken.'),
      requests: mapOf(
        object(
          {
            tags: listOf({ type: 'string' }),
            requestedPoints: countOf,
            load: countOf,
            pushDowns: listOf({ type: 'string' }, 'What the historian computes itself.'),
          },
          ['tags', 'requestedPoints', 'load', 'pushDowns'],
        ),
        'By label.',
      ),
      totals: object(totals, Object.keys(totals)),
      limits: object(totals, Object.keys(totals)),
    },
    ['allowed', 'reasons', 'requests', 'totals', 'limits'],
  ),
  description: 'With `"explain": true`: what the call would need. Nothing was fetched.',
}

export const operation: Operation = {
  id: 'multi',
  schemas: { ...REQUESTS, ...RESULTS, Explain },
  group: 'Points',
  summary: 'Read any set of data in one call',
  description:
    'Runs labelled requests against tags, calculations and virtual tags, and answers each under its label. A label whose request is wrong has a sentence in `errors` and no entry in `results`; the others are answered. The limits are checked before anything is fetched: a breach is 400 with the same sentence under every label. A call past its deadline is 504. An answer that breaks off (a connection closed before the last chunk) is not complete and must be thrown away.',
  request: {
    schema: object(
      {
        now: {
          ...optionalTime,
          description: 'Reference time of the call; the wall clock when left out.',
        },
        timeZone: shared('TimeZone'),
        requests: mapOf(request, 'Requests by label.'),
        format: word(['points', 'columns'], 'How `dataPoints` are written; `points` when left out.'),
        explain: { type: ['boolean', 'null'], description: 'Only says what the call would need.' },
      },
      ['requests'],
    ),
    examples: {
      current: {
        now: '2026-01-15T12:00:00Z',
        timeZone: 'Europe/Oslo',
        requests: {
          level: { type: 'CURRENT_POINT', tag: 'local/TANK_LEVEL', details: {} },
          flow: { type: 'HISTORICAL_POINT', tag: 'local/FLOW', details: { at: '2 hours ago' } },
        },
      },
      series: {
        now: '2026-01-15T12:00:00Z',
        requests: {
          chart: {
            type: 'INTERPOLATED_POINTS',
            tag: 'calc/ADD(local/FLOW, local/BIAS)',
            details: { from: 'now-2h', to: 'now', interval: '1h' },
          },
          raw: {
            type: 'RAW_POINTS',
            tag: 'local/FLOW',
            details: { from: 'today', to: 'now', maxPoints: 2, rightBoundary: 'INTERPOLATED' },
          },
          around: { type: 'ADJACENT_POINTS', tag: 'local/FLOW', details: { at: '2026-01-15T10:05:00Z' } },
          before: { type: 'POINT_BEFORE', tag: 'local/FLOW', details: { at: 'now' } },
          day: {
            type: 'AGGREGATED_POINTS',
            tag: 'local/FLOW',
            details: { from: 'today', to: 'now', aggregates: ['AVG', 'MAX'] },
          },
          hours: {
            type: 'MULTIPLE_AGGREGATED_POINTS',
            tag: 'local/FLOW',
            details: { from: '2026-01-15T10:00:00Z', to: 'now', interval: '1h', aggregates: ['TIMEAVG'] },
          },
        },
      },
      columns: {
        now: '2026-01-15T12:00:00Z',
        format: 'columns',
        requests: { raw: { type: 'RAW_POINTS', tag: 'local/FLOW', details: { from: 'today', to: 'now' } } },
      },
      explain: {
        explain: true,
        requests: {
          month: { type: 'AGGREGATED_POINTS', tag: 'local/FLOW', details: { from: 'now-30d', to: 'now' } },
        },
      },
    },
  },
  answers: {
    200: {
      description: 'The call was executed, or explained.',
      content: {
        schema: object(
          {
            results: mapOf(result, 'By label.'),
            next: mapOf(
              { type: 'string' },
              'RAW_POINTS, INTERVALS, GAPS: the cursor of each label that has more; left out without any.',
            ),
            missing: mapOf(
              listOf(object({ from: { type: 'string' }, to: { type: 'string' } }, ['from', 'to'])),
              'RAW_POINTS of a damaged tag: [from, to) of which points may be missing; left out without any.',
            ),
            errors: mapOf({ type: 'string' }, 'By label; empty when all were answered.'),
            now: { type: 'string', description: 'The reference time used.' },
            explain: shared('Explain'),
            ...COMMON,
          },
          ['results', 'errors', 'now'],
        ),
        examples: {
          current: {
            results: {
              level: { dataPoint: { timestamp: '2026-01-15T12:59:50.000+01:00', value: 3.2, status: 'OK' } },
              flow: { dataPoint: { timestamp: '2026-01-15T11:00:00.000+01:00', value: 10, status: 'OK' } },
            },
            errors: {},
            now: '2026-01-15T13:00:00.000+01:00',
          },
        },
      },
    },
  },
  errors: [504],
}
