import { z } from 'zod'
import { CALL_LIMITS, type Limit, SERVER_LIMITS } from '../errors/limits.ts'
import { parseTimeZone } from '../time/zone.ts'
import { historianNameProblem } from './historian-names.ts'

/**
 * The configuration file as a schema, with all defaults. The message of each rule is what is expected there, in words:
 * src/config/problems.ts makes the sentence around it.
 */

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const DEFAULT_PORT = 8080

const text = (expected: string) => z.string(expected).min(1, expected)
const whole = (least: number, most: number) => {
  const expected = `a whole number from ${least} to ${most}`
  return z.number(expected).int(expected).min(least, expected).max(most, expected)
}
const positive = z.number('a number above 0').positive('a number above 0')
const positiveUpTo = (most: number) => positive.max(most, `a number above 0 and up to ${most}`)
const flag = z.boolean('true or false')

/** A limit of the table in src/errors/limits.ts. */
const limit = (entry: Limit) => {
  const number = entry.isFraction === true ? fraction(entry.most) : whole(entry.least, entry.most)
  return number.default(entry.default)
}

/** The largest whole number, as `most` of a limit that takes fractions, is no bound that anyone reaches. */
const fraction = (most: number) => (most === Number.MAX_SAFE_INTEGER ? positive : positiveUpTo(most))

const tls = z.strictObject({
  certFile: text('the path of a PEM file'),
  keyFile: text('the path of a PEM file'),
})

const BASE_PATH =
  'nothing, or a path such as /tidemark that begins with / and has only letters, digits and ._~-'

const server = z.strictObject({
  host: text('a host name or an IP address').default('127.0.0.1'),
  port: whole(0, 65_535).default(DEFAULT_PORT),
  workers: whole(1, 256).default(1),
  basePath: z
    .string(BASE_PATH)
    .transform((path) => path.replace(/\/$/, ''))
    .refine((path) => path.length <= 200 && /^(\/[A-Za-z0-9._~-]+)*$/.test(path), BASE_PATH)
    .default(''),
  bodyLimitBytes: limit(SERVER_LIMITS.bodyLimitBytes),
  /** Left out it is `bodyLimitBytes` where that was set, so that one setting still bounds all bodies. */
  writeBodyLimitBytes: limit(SERVER_LIMITS.writeBodyLimitBytes).nullable().default(null),
  maxConcurrentCalls: limit(SERVER_LIMITS.maxConcurrentCalls),
  maxBytesInWork: limit(SERVER_LIMITS.maxBytesInWork),
  callerSharePercent: limit(SERVER_LIMITS.callerSharePercent),
  silenceSeconds: limit(SERVER_LIMITS.silenceSeconds),
  maxConnections: whole(1, 1_000_000).default(10_000),
  maxConnectionsPerAddress: whole(1, 1_000_000).default(1_000),
  callsPerSecond: positiveUpTo(1_000_000).nullable().default(null),
  corsOrigins: z.array(text('an origin such as https://example.com, or *'), 'a list of origins').default([]),
  tls: tls.nullable().default(null),
  trustedProxies: z
    .array(text('an IP address or a range such as 10.0.0.0/8'), 'a list of addresses')
    .default([]),
  metricsNeedKey: flag.default(false),
  shutdownSeconds: positiveUpTo(3_600).default(30),
})

type CallLimitName = keyof typeof CALL_LIMITS
const callLimits = Object.entries(CALL_LIMITS).map(([name, entry]) => [name, limit(entry)])
const limits = z.strictObject(
  Object.fromEntries(callLimits) as Record<CallLimitName, ReturnType<typeof limit>>,
)

/** The fields beside `type` are the driver's; src/config/load.ts gives them to the driver's own schema. */
const historian = z.looseObject({ type: text('the kind of historian') })

const historians = z
  .record(z.string(), historian, 'historian names with their settings')
  .superRefine((map, context) => {
    for (const name of Object.keys(map)) {
      const problem = historianNameProblem(name)
      if (problem !== null) {
        context.addIssue({ code: 'custom', path: [name], message: problem, params: { isKey: true } })
      }
    }
    if (Object.keys(map).length === 0) {
      context.addIssue({ code: 'custom', path: [], message: 'at least one historian' })
    }
  })

/** The fields beside `type` are those of its kind; src/config/load.ts gives them to the kind's own schema. */
const store = z
  .looseObject({ type: text('the kind of store') })
  .nullable()
  .default(null)

const ENDPOINT = 'an http or https address such as http://localhost:4318, without a user or a query'
const HEADER = 'the text of an HTTP header'
const RATIO = 'a number from 0 to 1'

const tracing = z.strictObject({
  endpoint: z.string(ENDPOINT).refine(isEndpoint, ENDPOINT),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]+$/, 'the name of an HTTP header'),
      z.string(HEADER).regex(/^[\x20-\x7e]*$/, HEADER),
      'HTTP headers with their texts',
    )
    .default({}),
  sampleRatio: z.number(RATIO).min(0, RATIO).max(1, RATIO).default(1),
  serviceName: text('the name of the service in traces').default('tidemark'),
})

function isEndpoint(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, username, password, search, hash } = new URL(address)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}

export const fileSchema = z.strictObject({
  server: server.prefault({}),
  dataDir: text('the path of a folder').default('./data'),
  store,
  timeZone: z
    .string('an IANA zone id such as Europe/Oslo')
    .refine((id) => parseTimeZone(id) !== null, 'an IANA zone id such as Europe/Oslo')
    .nullable()
    .default(null),
  defaultHistorian: text('the name of a configured historian').nullable().default(null),
  limits: limits.prefault({}),
  log: z
    .strictObject({ level: z.enum(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`).default('info') })
    .prefault({}),
  tracing: tracing.nullable().default(null),
  demo: flag.default(false),
  historians: historians.default({ local: { type: 'embedded' } }),
})

/** The file with its defaults filled in; paths are still as written. */
export type FileSettings = z.infer<typeof fileSchema>
