import { COMMON } from '../../openapi/schemas.ts'
import { listOf, mapOf, type Operation, object, type Schema, shared } from '../../openapi/types.ts'

const time = shared('Timestamp')
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
  ...listOf({ type: 'string' }),
  type: ['array', 'null'],
  minItems: 1,
  description:
    'MIN, MAX, AVG, MEDIAN, VAR, STDDEV, FIRST, LAST, SUM, RANGE, COUNT, NUMGOOD, NUMBAD, TIMEAVG, in any case; all when left out.',
}
const boundary = (side: string, otherwise: string): Schema =>
  word(
    ['INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED'],
    `What stands at the ${side} boundary; ${otherwise} when left out. NEAREST adds the nearest raw point outside, INTERPOLATED a point exactly on it.`,
  )
const range = { from: time, to: time }

/** The details of each request type, as the reference shows them. */
const DETAILS: { readonly [type: string]: { readonly schema: Schema; readonly isOptional?: boolean } } = {
  CURRENT_POINT: {
    isOptional: true,
    schema: object({
      now: {
        ...time,
        description:
          'The last point strictly before it; without it the last at or before the `now` of the call.',
      },
    }),
  },
  HISTORICAL_POINT: { schema: object({ at: time }, ['at']) },
  INTERPOLATED_POINTS: {
    schema: object({ ...range, count: count('1000 when left out; not together with interval.'), interval }, [
      'from',
      'to',
    ]),
  },
  RAW_POINTS: {
    schema: object({
      ...range,
      maxPoints: count('1000 when left out.'),
      leftBoundary: boundary('left', 'INCLUDE'),
      rightBoundary: boundary('right', 'EXCLUDE'),
      order: word(['asc', 'desc'], '`asc` when left out; `desc` is newest first.'),
      cursor: {
        type: ['string', 'null'],
        description: '`next` of the page before; everything but maxPoints then comes from it.',
      },
    }),
  },
  POINT_BEFORE: { schema: object({ at: time }, ['at']) },
  POINT_BEFORE_OR_AT: { schema: object({ at: time }, ['at']) },
  POINT_AFTER: { schema: object({ at: time }, ['at']) },
  POINT_AFTER_OR_AT: { schema: object({ at: time }, ['at']) },
  ADJACENT_POINTS: { schema: object({ at: time }, ['at']) },
  AGGREGATED_POINTS: { schema: object({ ...range, aggregates }, ['from', 'to']) },
  MULTIPLE_AGGREGATED_POINTS: {
    schema: object(
      { ...range, aggregates, count: count('So many equal windows; this or interval.'), interval },
      ['from', 'to'],
    ),
  },
}

/** The request types that the reference describes, in its order. */
export const DOCUMENTED_TYPES: readonly string[] = Object.keys(DETAILS)

const request: Schema = {
  oneOf: Object.entries(DETAILS).map(([type, { schema, isOptional }]) =>
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
  ),
}

const points: Schema = { oneOf: [listOf(shared('Point')), shared('PointColumns')] }
const maybePoint: Schema = { oneOf: [shared('Point'), { type: 'null' }] }
const result: Schema = {
  oneOf: [
    object({ dataPoint: shared('Point') }, ['dataPoint']),
    object(
      {
        dataPoints: points,
        truncated: { type: 'boolean', description: 'RAW_POINTS: whether there are more.' },
        next: { type: 'string', description: 'RAW_POINTS, when truncated: the cursor of the next page.' },
      },
      ['dataPoints'],
    ),
    object({ before: maybePoint, at: maybePoint, after: maybePoint }, ['before', 'at', 'after']),
    object({ aggregates: listOf(shared('Aggregates')) }, ['aggregates']),
  ],
}

const countOf = { type: 'integer', minimum: 0 }
const totals = { requestedPoints: countOf, effectiveTags: countOf, load: countOf, aggregateWindows: countOf }
const explain: Schema = {
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
  group: 'Points',
  summary: 'Read any set of data in one call',
  description:
    'Runs labelled requests against tags, calculations and virtual tags, and answers each under its label. A label whose request is wrong has a sentence in `errors` and no entry in `results`; the others are answered. The limits are checked before anything is fetched: a breach is 400 with the same sentence under every label. A call past its deadline is 504. An answer that breaks off (a connection closed before the last chunk) is not complete and must be thrown away.',
  request: {
    schema: object(
      {
        now: {
          ...time,
          type: ['string', 'number', 'null'],
          description: 'Reference time of the call; the wall clock when left out.',
        },
        timeZone: {
          type: ['string', 'null'],
          description: 'IANA zone id; the zone of the service when left out.',
        },
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
            errors: mapOf({ type: 'string' }, 'By label; empty when all were answered.'),
            now: { type: 'string', description: 'The reference time used.' },
            explain,
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
