import { ERRORS } from '../../errors/codes.ts'
import { AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { listOf, mapOf, object, type Schema, shared } from './types.ts'

const text = (description: string): Schema => ({ type: 'string', description })

/** A time in a request. */
const Timestamp: Schema = {
  type: ['string', 'number'],
  description:
    'A time: ISO 8601 with `Z`, an offset or a `[Zone/Id]`, epoch seconds or milliseconds, or relative to `now` (`now`, `yesterday`, `2 hours ago`, `3 days ago at 00:00`, `now-6h`, `*-8h`). Without a zone the `timeZone` of the call applies.',
  examples: ['2026-01-15T12:00:00Z', 1768478400, '2 hours ago'],
}

const Status: Schema = { type: 'string', enum: ['OK', 'BAD'] }

const Metadata: Schema = object({
  description: { type: ['string', 'null'] },
  units: { type: ['string', 'null'] },
  stepped: {
    type: ['boolean', 'null'],
    description: 'Whether a value holds until the next point (true) or goes linearly towards it (false).',
  },
})

const StoredMetadata: Schema = object(
  {
    description: { type: ['string', 'null'] },
    units: { type: ['string', 'null'] },
    stepped: { type: 'boolean' },
  },
  ['description', 'units', 'stepped'],
)

const Point: Schema = object(
  {
    timestamp: text('ISO 8601 in the zone of the call, with at least three digits of fraction.'),
    value: { type: ['number', 'null'], description: 'Null where there is no value; the status is then BAD.' },
    status: shared('Status'),
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
      unit: { type: 'string', const: 'ms' },
    },
    ['timestamps', 'values', 'unit'],
  ),
  description: 'The points as columns, with `"format": "columns"` in the call.',
}

const WritePoint: Schema = object(
  {
    timestamp: shared('Timestamp'),
    value: { type: 'number', description: 'Finite.' },
    status: { type: ['string', 'null'], enum: ['OK', 'BAD', null], description: 'OK when left out.' },
  },
  ['timestamp', 'value'],
)

const WriteColumns: Schema = {
  ...object(
    {
      timestamps: listOf(shared('Timestamp')),
      values: listOf({ type: 'number' }),
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
  },
  ['code', 'message'],
)

const warnings = listOf(
  { type: 'string' },
  'What was ignored, one sentence each, at most 100. Left out when there is none.',
)
const issues = listOf(shared('Issue'), 'Machine-readable twins of `errors`. Left out when `errors` is empty.')

const GeneralError: Schema = {
  ...object(
    {
      message: { type: 'string' },
      errors: listOf({ type: 'string' }),
      deleted: { type: 'object', description: 'Of corrections; empty.' },
      renamed: { type: 'object', description: 'Of corrections; empty.' },
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
      errors: mapOf({ type: 'string' }, 'Empty where no label or entry is to blame.'),
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

const aggregateValues = Object.fromEntries(
  AGGREGATE_NAMES.map((name) => [name, { type: ['number', 'null'] }] as const),
)
const Aggregates: Schema = {
  ...object({ from: { type: 'string' }, to: { type: 'string' }, ...aggregateValues }, [
    'from',
    'to',
    ...AGGREGATE_NAMES,
  ]),
  description:
    'Aggregates over [from, to). Those not asked for, and those that cannot be computed, are null.',
}

/** Schemas that several endpoints share, by name. */
export const SCHEMAS: { readonly [name: string]: Schema } = {
  Timestamp,
  Status,
  Metadata,
  StoredMetadata,
  Point,
  PointColumns,
  WritePoint,
  WriteColumns,
  Aggregates,
  Issue,
  Error: GeneralError,
  ErrorByKey,
}

/** Fields that many answers have. */
export const COMMON = { warnings, issues }
