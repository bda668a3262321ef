import { REQUEST_TYPES } from '../../../multi/requests/table.ts'
import { COMMON } from '../../openapi/schemas.ts'
import { listOf, mapOf, type Operation, object, type Schema, shared } from '../../openapi/types.ts'
import { REQUESTS, requestName } from './request-schemas.ts'

const request: Schema = {
  oneOf: Object.keys(REQUESTS).map(shared),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(
      [...REQUEST_TYPES.keys()].map((type) => [type, `#/components/schemas/${requestName(type)}`]),
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
        // One list of either: an empty one would fit two lists, and strict clients refuse what fits more than one.
        oneOf: [
          listOf({ oneOf: [shared('Interval'), shared('Gap')] }),
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
          ...shared('OptionalTimestamp'),
          description: 'Reference time of the call; the wall clock when left out.',
        },
        timeZone: shared('TimeZone'),
        requests: mapOf(request, 'Requests by label.'),
        format: {
          type: ['string', 'null'],
          enum: ['points', 'columns', null],
          description: 'How `dataPoints` are written; `points` when left out.',
        },
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
