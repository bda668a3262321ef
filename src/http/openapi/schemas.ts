import { ERRORS } from '../../errors/codes.ts'
import {
  AGGREGATE_NAMES,
  type AggregateName,
  aggregateOf,
  FIRST_AGGREGATE_NAMES,
} from '../../series/aggregate-names.ts'
import { listOf, mapOf, object, type Schema, shared } from './types.ts'

const text = (description: string): Schema => ({ type: 'string', description })

/** A time in a request. */
const Timestamp: Schema = {
  type: ['string', 'number'],
  description:
    'A time: ISO 8601 with `Z`, an offset or a `[Zone/Id]`, epoch seconds or milliseconds, or relative to `now` (`now`, `yesterday`, `2 hours ago`, `3 days ago at 00:00`, `now-6h`, `*-8h`). Without a zone the `timeZone` of the call applies.',
  examples: ['2026-01-15T12:00:00Z', 1768478400, '2 hours ago'],
}

/** A time where null is the same as none. */
const OptionalTimestamp: Schema = { ...Timestamp, type: ['string', 'number', 'null'] }

const TimeZone: Schema = {
  type: ['string', 'null'],
  minLength: 1,
  description: 'IANA zone id, of times that name no zone; the zone of the service when left out.',
  examples: ['Europe/Oslo'],
}

const Status: Schema = { type: 'string', enum: ['OK', 'BAD'] }

const Metadata: Schema = object({
  description: { type: ['string', 'null'] },
  units: { type: ['string', 'null'] },
  stepped: {
    type: ['boolean', 'null'],
    description:
      'Whether a value holds until the next point (true) or goes linearly towards it (false). A tag with `states` is stepped.',
  },
  maxGap: {
    type: ['string', 'null'],
    description:
      'How long a good value is good for where no other one follows: a duration of a fixed length above 0 (`90s`, `5min`, `1d`). Left out: stays as it is; null: without limit.',
    examples: ['5min'],
  },
  states: {
    type: ['object', 'null'],
    additionalProperties: { type: 'string' },
    description:
      'Distinct names of values by number. Left out: stays as it is; null: none. At most 200, of 1 to 100 characters, none of them `other`.',
    examples: [{ '0': 'Closed', '1': 'Open' }],
  },
})

/** Fields of metadata that are left out where they are not set. */
export const OPTIONAL_METADATA = {
  maxGap: text('How long a good value is good for; left out where there is no limit.'),
  states: mapOf({ type: 'string' }, 'Names of values by number; left out where there are none.'),
}

const StoredMetadata: Schema = object(
  {
    description: { type: ['string', 'null'] },
    units: { type: ['string', 'null'] },
    stepped: { type: 'boolean' },
    ...OPTIONAL_METADATA,
  },
  ['description', 'units', 'stepped'],
)

const Point: Schema = object(
  {
    timestamp: text('ISO 8601 in the zone of the call, with at least three digits of fraction.'),
    value: { type: ['number', 'null'], description: 'Null where there is no value; the status is then BAD.' },
    status: shared('Status'),
    enumString: {
      type: ['string', 'null'],
      description:
        'Name of the state that the value stands for; null where it has none. Only in single and raw points of tags with `states`.',
    },
  },
  ['timestamp', 'value', 'status'],
)

const PointColumns: Schema = {
  ...object(
    {
      timestamps: listOf(
        { type: 'number' },
        'Epoch milliseconds, with a fraction where there are microseconds.',
      ),
      values: listOf({ type: ['number', 'null'] }),
      statuses: listOf(shared('Status'), 'Left out when all are OK.'),
      states: listOf(
        { type: ['string', 'null'] },
        'Names of the values, as `enumString`; only of RAW_POINTS of tags with `states`.',
      ),
      unit: { type: 'string', const: 'ms' },
    },
    ['timestamps', 'values', 'unit'],
  ),
  description: 'The points as columns, with `"format": "columns"` in the call.',
}

const WritePoint: Schema = object(
  {
    timestamp: shared('Timestamp'),
    value: {
      type: ['number', 'string'],
      description: 'A finite number, or the name of one of the `states` of the tag.',
    },
    status: { type: ['string', 'null'], enum: ['OK', 'BAD', null], description: 'OK when left out.' },
  },
  ['timestamp', 'value'],
)

const WriteColumns: Schema = {
  ...object(
    {
      timestamps: listOf(shared('Timestamp')),
      values: listOf({ type: ['number', 'string'] }),
      statuses: { type: ['array', 'null'], items: { type: ['string', 'null'], enum: ['OK', 'BAD', null] } },
      unit: {
        type: ['string', 'null'],
        enum: ['s', 'ms', 'us', null],
        description:
          'Unit of timestamps that are numbers; without it they are taken as epoch seconds or milliseconds.',
      },
    },
    ['timestamps', 'values'],
  ),
  description: 'Equally long columns in place of an array of points.',
}

const Issue: Schema = object(
  {
    code: {
      type: 'string',
      enum: Object.keys(ERRORS),
      description: 'Stable; listed in the reference of errors.',
    },
    message: text('The sentence of `errors`.'),
    label: text('Label of the request.'),
    tag: text('Tag address.'),
    index: { type: 'integer', minimum: 0, description: 'Place of the point in its array.' },
    input: text('What was sent.'),
    column: { type: 'integer', minimum: 1, description: 'Column in a calculation.' },
    suggestions: listOf({ type: 'string' }, 'What was probably meant, the nearest first.'),
  },
  ['code', 'message'],
)

const warnings = listOf(
  { type: 'string' },
  'What was ignored, or is left out because stored data are damaged: one sentence each, at most 100. Left out when there is none.',
)
const issues = listOf(shared('Issue'), 'Machine-readable twins of `errors`. Left out when `errors` is empty.')

const GeneralError: Schema = {
  ...object(
    {
      message: { type: 'string' },
      errors: listOf({ type: 'string' }),
      deleted: { type: 'object', description: 'Of corrections; empty.' },
      renamed: { type: 'object', description: 'Of corrections; empty.' },
      tooOld: {
        type: 'integer',
        minimum: 1,
        description: 'Of writes: so many points are too old, and all others were written.',
      },
      issues,
      warnings,
    },
    ['message', 'errors'],
  ),
  description: 'The general error body.',
}

const ErrorByKey: Schema = {
  ...object(
    {
      message: { type: 'string' },
      errors: mapOf(
        { type: 'string' },
        'By label or address. Where none is to blame it is empty on multi, and has the sentence under `*` on metadata.',
      ),
      results: { type: 'object' },
      handledEntries: { type: 'object' },
      entries: { type: 'object' },
      issues,
      warnings,
      now: { type: 'string' },
    },
    ['message', 'errors'],
  ),
  description: 'The general error body where `errors` is an object: on metadata and multi.',
}

const AGGREGATE_TEXTS: { readonly [name in AggregateName]?: string } = {
  total: 'Integral of the signal over the window, in the unit that `per` says.',
  delta: 'Last minus first good raw point.',
  increase: 'Sum of the rises of a counter; a fall is a restart at 0.',
  startBound: 'Value of the signal at the start of the window.',
  endBound: 'Limit of the signal from the left at the end of the window.',
  deltaBounds: 'endBound minus startBound.',
  minTime: 'Time of the earliest least good raw point.',
  maxTime: 'Time of the earliest greatest good raw point.',
  stdDevP: 'Standard deviation of the population.',
  varP: 'Variance of the population.',
  durationGood: 'Seconds from good raw points to the next ones, up to `now`.',
  durationBad: 'Seconds from BAD raw points to the next ones, up to `now`.',
  coverage: 'Percent of the window, up to `now`, in which the signal has a value.',
  percentGood: 'Percent of the raw points that are good.',
  percentBad: 'Percent of the raw points that are BAD.',
  numTransitions: 'Changes between zero and not zero of the good raw points.',
  durationZero: 'Seconds in which the signal is 0.',
  durationNonZero: 'Seconds in which the signal has another value than 0.',
  worstStatus: 'BAD where a raw point is, else OK.',
}

function aggregateSchema(name: AggregateName, ofTime: Schema): Schema {
  const { shownAs } = aggregateOf(name)
  const text = AGGREGATE_TEXTS[name]
  const schema: Schema =
    shownAs === 'status'
      ? { type: ['string', 'null'], enum: ['OK', 'BAD', null] }
      : shownAs === 'time'
        ? ofTime
        : { type: ['number', 'null'] }
  return text === undefined ? schema : { ...schema, description: text }
}

const STATES: Schema = {
  type: ['object', 'null'],
  additionalProperties: object(
    {
      seconds: { type: 'number', minimum: 0, description: 'In the window, up to `now`.' },
      visits: {
        type: 'integer',
        minimum: 0,
        description: 'How often it had the state: times of it that meet the window.',
      },
    },
    ['seconds', 'visits'],
  ),
  description:
    'By the names of its states, `other` where values without a name were met; null of a tag without states. Only where STATES was asked for.',
}
const VAR: Schema = { type: ['number', 'null'], description: 'The variance again, where VAR was asked for.' }
const Aggregates: Schema = {
  ...object(
    {
      from: { type: 'string' },
      to: { type: 'string' },
      partial: {
        type: 'boolean',
        const: true,
        description: 'Of a window of an interval that the range cuts.',
      },
      ...Object.fromEntries(
        AGGREGATE_NAMES.map((name) => [name, aggregateSchema(name, { type: ['string', 'null'] })] as const),
      ),
      var: VAR,
      states: STATES,
    },
    ['from', 'to', ...FIRST_AGGREGATE_NAMES],
  ),
  description:
    'Aggregates over [from, to). The first fourteen are always there, null where one was not asked for or cannot be computed; the others where they were asked for.',
}

const millis = listOf({ type: 'number' }, 'Epoch milliseconds, with a fraction where there are microseconds.')
const AggregateColumns: Schema = {
  ...object(
    {
      from: millis,
      to: millis,
      unit: { type: 'string', const: 'ms' },
      partial: listOf({ type: 'boolean' }, 'Whether the range cuts the window; left out when it cuts none.'),
      ...Object.fromEntries(
        AGGREGATE_NAMES.map(
          (name) => [name, listOf(aggregateSchema(name, { type: ['number', 'null'] }))] as const,
        ),
      ),
      var: listOf(VAR),
      states: listOf(STATES),
    },
    ['from', 'to', 'unit'],
  ),
  description:
    'The windows as columns, with `"format": "columns"` in the call: an array for each aggregate that was asked for.',
}

const instant = text('ISO 8601 in the zone of the call.')
const Interval: Schema = {
  ...object(
    {
      from: instant,
      to: instant,
      openStart: { type: 'boolean', description: 'Whether it goes on before the range.' },
      openEnd: {
        type: 'boolean',
        description: 'Whether it goes on after the range, or is held until `now`.',
      },
      aggregates: shared('Aggregates'),
    },
    ['from', 'to', 'openStart', 'openEnd'],
  ),
  description: 'An interval in which a tag is not 0.',
}
const Gap: Schema = {
  ...object({ from: instant, to: instant, kind: { type: 'string', enum: ['missing', 'bad'] } }, [
    'from',
    'to',
    'kind',
  ]),
  description: 'A time without a good raw point; `bad` where a BAD one lies inside.',
}
const rangeColumns = { from: millis, to: millis, unit: { type: 'string', const: 'ms' } }
const IntervalColumns: Schema = {
  ...object(
    {
      ...rangeColumns,
      openStart: listOf({ type: 'boolean' }),
      openEnd: listOf({ type: 'boolean' }),
      aggregates: shared('AggregateColumns'),
    },
    ['from', 'to', 'unit', 'openStart', 'openEnd'],
  ),
  description: 'Intervals as columns, with `"format": "columns"` in the call.',
}
const GapColumns: Schema = {
  ...object({ ...rangeColumns, kind: listOf({ type: 'string', enum: ['missing', 'bad'] }) }, [
    'from',
    'to',
    'unit',
    'kind',
  ]),
  description: 'Gaps as columns, with `"format": "columns"` in the call.',
}

/** Schemas that several endpoints share, by name. */
export const SCHEMAS: { readonly [name: string]: Schema } = {
  Timestamp,
  OptionalTimestamp,
  TimeZone,
  Status,
  Metadata,
  StoredMetadata,
  Point,
  PointColumns,
  WritePoint,
  WriteColumns,
  Aggregates,
  AggregateColumns,
  Interval,
  Gap,
  IntervalColumns,
  GapColumns,
  Issue,
  Error: GeneralError,
  ErrorByKey,
}

/** Fields that many answers have. */
export const COMMON = { warnings, issues }
