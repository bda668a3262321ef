import { z } from 'zod'
import { parseTimeZone } from '../time/zone.ts'
import { historianNameProblem } from './historian-names.ts'
import { DEFAULT_LIMITS } from './settings.ts'

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
const flag = z.boolean('true or false')

/** Counts up to here are exact in a double. */
const LARGEST = Number.MAX_SAFE_INTEGER

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
  bodyLimitBytes: whole(1024, 1024 ** 3).default(64 * 1024 ** 2),
  maxConcurrentCalls: whole(1, 100_000).default(64),
  maxBytesInWork: whole(1024, LARGEST).default(512 * 1024 ** 2),
  corsOrigins: z.array(text('an origin such as https://example.com, or *'), 'a list of origins').default([]),
  tls: tls.nullable().default(null),
  trustedProxies: z
    .array(text('an IP address or a range such as 10.0.0.0/8'), 'a list of addresses')
    .default([]),
  metricsNeedKey: flag.default(false),
  shutdownSeconds: positive.max(3600, 'a number above 0 and up to 3600').default(30),
})

const limits = z.strictObject({
  requestedPoints: whole(1, LARGEST).default(DEFAULT_LIMITS.requestedPoints),
  historianLoad: whole(1, LARGEST).default(DEFAULT_LIMITS.historianLoad),
  effectiveTags: whole(1, LARGEST).default(DEFAULT_LIMITS.effectiveTags),
  aggregateWindows: whole(1, LARGEST).default(DEFAULT_LIMITS.aggregateWindows),
  deadlineSeconds: positive.default(DEFAULT_LIMITS.deadlineSeconds),
})

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
  demo: flag.default(false),
  historians: historians.default({ local: { type: 'embedded' } }),
})

/** The file with its defaults filled in; paths are still as written. */
export type FileSettings = z.infer<typeof fileSchema>
