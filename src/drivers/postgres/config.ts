import { z } from 'zod'
import { credentialSchema } from '../../historian/remote/credentials.ts'
import { tlsSchema } from '../../historian/remote/tls.ts'
import { parseTimeZone } from '../../time/zone.ts'
import { MAX_IDENTIFIER_BYTES } from './text.ts'

const NAME = `a name of 1 to ${MAX_IDENTIFIER_BYTES} bytes as the database has it, without quotes around it`
const SECONDS = 'a number of seconds above 0, up to 3600'
const COUNT = 'a whole number from 1 to 100'

/** Name of a schema, table or column: it is quoted, so that upper and lower case count. */
const name = z
  .string(NAME)
  .min(1, NAME)
  .refine((text) => Buffer.byteLength(text) <= MAX_IDENTIFIER_BYTES && !text.includes('\0'), NAME)
const seconds = z.number(SECONDS).gt(0, SECONDS).max(3600, SECONDS)
const flag = z.boolean('true or false')

const TABLE_OR_QUERY = 'table or query, one of them,'

/** Where rows come from: a table or view, or a query whose columns are then named. */
const rows = {
  schema: name.default('public'),
  table: name.optional(),
  query: z.string('an SQL query').min(1, 'an SQL query').optional(),
}

const oneSource = ({ table, query }: { table?: string | undefined; query?: string | undefined }) =>
  (table === undefined) !== (query === undefined)

const UNIT = 's, ms, us or ns'
const ZONE = 'an IANA time zone id such as Europe/Oslo'

/** The columns that every kind of points has. */
const points = {
  ...rows,
  time: name,
  /** What a `timestamp` column without a time zone is in. */
  timeZone: z
    .string(ZONE)
    .refine((id) => parseTimeZone(id) !== null, ZONE)
    .optional(),
  /** What a number in the time column counts. */
  timeUnit: z.enum(['s', 'ms', 'us', 'ns'], UNIT).optional(),
  /** The column whose highest value wins where several rows have the same tag and time. */
  version: name.optional(),
  /** Says that no two rows have the same tag and time, where no unique index says so. */
  unique: flag.default(false),
  /** Points are BAD unless this column has one of these texts. */
  status: z
    .strictObject({
      column: name,
      good: z.array(z.string('a text'), 'a list of texts').min(1, 'at least one'),
    })
    .optional(),
}

const narrowSchema = z.strictObject({ ...points, tag: name, value: name }).refine(oneSource, TABLE_OR_QUERY)

const TAG_NAME = 'a tag name of 1 to 512 characters'
const tagName = z.string(TAG_NAME).min(1, TAG_NAME).max(512, TAG_NAME)
const wideColumn = z.union(
  [
    tagName,
    z.strictObject({
      name: tagName,
      description: z.string('a text').optional(),
      units: z.string('a text').optional(),
      stepped: flag.optional(),
    }),
  ],
  'a tag name, or name with description, units and stepped',
)

const wideSchema = z
  .strictObject({
    ...points,
    /**
     * With it, each value of this column has tags of its own: its text, then `separator`, then the column's tag name.
     */
    tag: name.optional(),
    separator: z.string('a text').default('.'),
    /** Column to tag name. */
    values: z
      .record(name, wideColumn, 'column names, each with a tag name')
      .refine((columns) => Object.keys(columns).length > 0, 'at least one column'),
  })
  .refine(oneSource, TABLE_OR_QUERY)

const tagsSchema = z
  .strictObject({
    ...rows,
    name,
    /** Column with what the points' tag column holds, where that is not the name. */
    key: name.optional(),
    description: name.optional(),
    units: name.optional(),
    stepped: name.optional(),
    maxGap: name.optional(),
    states: name.optional(),
  })
  .refine(oneSource, TABLE_OR_QUERY)

/** Tables that are there already; they are only read. */
const existingSchema = z
  .strictObject({
    points: narrowSchema.optional(),
    wide: z.array(wideSchema, 'a list of tables').max(100, 'at most 100 tables').default([]),
    tags: tagsSchema.optional(),
    /** For tags of which nothing else says so. */
    stepped: flag.default(false),
  })
  .refine(({ points: narrow, wide }) => narrow !== undefined || wide.length > 0, 'points or wide')
  .refine(({ points: narrow, tags }) => narrow !== undefined || tags === undefined, 'no tags without points')

/** Configuration of a postgres historian, besides its type; messages say what is expected. */
export const postgresConfigSchema = z.strictObject({
  /** Name or address of the server, or the folder of its socket. */
  host: z.string('a host name').min(1, 'a host name').default('localhost'),
  port: z.int('a port').min(1, 'a port').max(65535, 'a port').default(5432),
  database: name,
  user: name,
  password: credentialSchema.optional(),
  /** Without it nothing is encrypted. */
  tls: tlsSchema.optional(),
  connections: z.int(COUNT).min(1, COUNT).max(100, COUNT).default(8),
  connectSeconds: seconds.default(5),
  /** Time for one call, and for one statement on the server. */
  timeoutSeconds: seconds.default(20),
  /** Whether Tidemark's own tables can be changed; existing ones never are. */
  writable: flag.default(true),
  /** Schema of Tidemark's own tables, made when missing. */
  schema: name.default('tidemark'),
  /** Reads tables that are there already, instead of having its own. */
  existing: existingSchema.optional(),
})

export type PostgresConfig = z.infer<typeof postgresConfigSchema>
export type ExistingConfig = z.infer<typeof existingSchema>
export type NarrowConfig = z.infer<typeof narrowSchema>
export type WideConfig = z.infer<typeof wideSchema>
export type TagsConfig = z.infer<typeof tagsSchema>
