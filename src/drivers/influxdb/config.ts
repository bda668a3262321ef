import { z } from 'zod'
import { credentialSchema } from '../../historian/remote/credentials.ts'
import { tlsSchema } from '../../historian/remote/tls.ts'
import { layoutProblem } from './layout.ts'
import { isQuotable } from './quote.ts'

const NAME = 'a name of 1 to 200 characters without control characters'
const name = z
  .string(NAME)
  .min(1, NAME)
  .max(200, NAME)
  .refine((text) => isQuotable(text) && !/\p{Cc}/u.test(text), NAME)
const URL_EXPECTED =
  'an http or https URL without user name, password and query, such as http://localhost:8086,'
const flag = z.boolean('true or false')
const SECONDS = 'a number of seconds above 0 and up to 3600'
const seconds = z.number(SECONDS).positive(SECONDS).max(3600, SECONDS)
const MARK = 'a whole number, a text, true or false'
/** What a status field holds. */
const mark = z.union([z.number().int(), z.string().max(100).refine(isQuotable), z.boolean()], MARK)

const url = z.string(URL_EXPECTED).transform((text, context) => {
  const parsed = URL.canParse(text) ? new URL(text) : null
  const isPlain = parsed !== null && parsed.username === '' && parsed.search === '' && parsed.hash === ''
  if (isPlain && /^https?:$/.test(parsed.protocol)) return parsed
  context.addIssue({ code: 'custom', message: URL_EXPECTED })
  return z.NEVER
})

const metadata = z.discriminatedUnion(
  'kind',
  [
    /** A measurement that Tidemark makes and keeps; needed for writing. */
    z.strictObject({
      kind: z.literal('own'),
      measurement: name.default('tidemark_tags'),
      /** Must keep points for ever; the database's default when left out. */
      retentionPolicy: name.optional(),
    }),
    /** A measurement of somebody else's, with the tag's name under a tag key and the rest in fields. */
    z.strictObject({
      kind: z.literal('measurement'),
      measurement: name,
      tagKey: name.default('tag'),
      description: name.optional(),
      units: name.optional(),
      stepped: name.optional(),
    }),
    /** A CSV file with the columns tag, description, units and stepped. */
    z.strictObject({
      kind: z.literal('file'),
      path: z.string('the path of a file').min(1, 'the path of a file'),
    }),
    z.strictObject({ kind: z.literal('none') }),
  ],
  'an object whose kind is own, measurement, file or none',
)

/** Configuration of an InfluxDB historian, besides its type; messages say what is expected. */
export const influxConfigSchema = z
  .strictObject({
    url,
    database: name,
    /** The database's default when left out. */
    retentionPolicy: name.optional(),
    username: z.string('a user name').min(1, 'a user name').optional(),
    password: credentialSchema.optional(),
    /** In place of user name and password, for InfluxDB 2 and 3. */
    token: credentialSchema.optional(),
    tls: tlsSchema.optional(),
    /** Whether points and tags can be changed. */
    writable: flag.default(false),
    tagName: z.string('a template such as {measurement}/{device}/{field}').default('{tag}'),
    measurement: name.default('tidemark'),
    field: name.default('value'),
    tags: z.record(name, name, 'tag keys with their values').default({}),
    /** Field that holds the status; null where every point is good. */
    statusField: name.nullable().default('status'),
    /** What the status field of a good point holds; the first is what is written. A point without the field is good. */
    good: z.array(mark, `a list of ${MARK}`).min(1, 'at least one value').default([0]),
    /** What is written for a BAD point; anything that is not in `good` is read as BAD. */
    bad: mark.default(1),
    /** Whether series that Tidemark did not make are tags, too. */
    existing: flag.optional(),
    metadata: metadata.default({ kind: 'own', measurement: 'tidemark_tags' }),
    /** How old the list of tags that searches look through may be, for changes by others. */
    catalogSeconds: seconds.default(30),
    /** Longest time for one call's work at the server; keep it below limits.deadlineSeconds. */
    timeoutSeconds: seconds.default(20),
    connections: z
      .number('a whole number from 1 to 64')
      .int('a whole number from 1 to 64')
      .min(1, 'a whole number from 1 to 64')
      .max(64, 'a whole number from 1 to 64')
      .default(8),
    /** Whether what is sent and received travels compressed. */
    gzip: flag.default(false),
  })
  .superRefine((config, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const problem = layoutProblem(config)
    if (problem !== null) issue('tagName', problem)
    if (config.writable && config.metadata.kind !== 'own') {
      issue('metadata', 'kind: own, as tags are made there when writable is true,')
    }
    if (!(config.existing ?? !config.writable) && config.metadata.kind !== 'own') {
      issue('existing', 'true, as there are no other tags without kind: own,')
    }
    if (config.token !== undefined && (config.username ?? config.password) !== undefined) {
      issue('token', 'token, or username and password,')
    }
    if ((config.username === undefined) !== (config.password === undefined)) {
      issue('password', 'username and password, both or none,')
    }
    const { metadata } = config
    if (metadata.kind !== 'none' && metadata.kind !== 'file' && metadata.measurement === config.measurement) {
      issue('metadata', 'another measurement than that of the points')
    }
    if (config.good.includes(config.bad)) issue('bad', 'a value that is not in good')
    if (new Set([...config.good, config.bad].map((value) => typeof value)).size > 1) {
      issue('good', 'values of one type, which bad has, too,')
    }
    if (config.statusField === config.field) issue('statusField', 'another field than field')
  })
  .transform((config) => ({ ...config, existing: config.existing ?? !config.writable }))

export type InfluxConfig = z.infer<typeof influxConfigSchema>
export type MetadataSettings = InfluxConfig['metadata']
export type StatusMark = InfluxConfig['bad']
