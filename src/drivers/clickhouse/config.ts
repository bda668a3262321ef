import { z } from 'zod'
import { credentialSchema } from '../../historian/remote/credentials.ts'
import { tlsSchema } from '../../historian/remote/tls.ts'

const URL_TEXT = 'a URL such as http://db1:8123, without user, path or query,'
const NAME_TEXT = 'a name of letters, digits and _'
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
const name = z.string(NAME_TEXT).regex(NAME, NAME_TEXT)

/** Configuration of a ClickHouse historian, besides its type; messages say what is expected. */
export const clickhouseConfigSchema = z.strictObject({
  /** HTTP interfaces of the servers; the first that answers is used, the others take over. */
  urls: z
    .array(z.string(URL_TEXT).refine(isServerUrl, URL_TEXT), 'a list of URLs')
    .min(1, 'at least one URL')
    .max(100, 'at most 100 URLs'),
  user: z.string('the name of a user').min(1, 'the name of a user').max(200).default('default'),
  /** Left out for a user without a password. */
  password: credentialSchema.optional(),
  tls: tlsSchema.optional(),
  /** Made when it is missing. */
  database: name.default('tidemark'),
  /** Begins the names of the tables, so that several historians can share a database. */
  tablePrefix: z
    .string(NAME_TEXT)
    .regex(/^[A-Za-z0-9_]{0,30}$/, NAME_TEXT)
    .default(''),
  /** Name of the cluster in the servers' configuration; without, the tables are on one server. */
  cluster: name.optional(),
  /** Replicas that have a write before it is acknowledged. */
  writeQuorum: z
    .int('a number of replicas')
    .min(1, 'a number of replicas, at least 1')
    .max(10, 'a number of replicas, at most 10')
    .default(1),
  /** What the points of one file set of the server have in common; decides how whole a write becomes visible. */
  partitionBy: z.enum(['none', 'month'], 'none or month').default('none'),
  /** Whether points and tags can be changed. */
  writable: z.boolean('true or false').default(true),
  /** Connections to each server. */
  connections: z.int('a number of connections').min(1).max(200).default(8),
  /** Longest time for one read or change, all of its queries together; keep it below limits.deadlineSeconds. */
  timeoutSeconds: z.number('a number of seconds').positive('a number above 0').max(3600).default(20),
  /** Longest time that the server works on one query, where nothing has it stopped before. */
  queryTimeoutSeconds: z.number('a number of seconds').positive('a number above 0').max(3600).default(60),
})

export type ClickhouseConfig = z.infer<typeof clickhouseConfigSchema>

function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, pathname, search, hash } = new URL(text)
  return (
    (protocol === 'http:' || protocol === 'https:') &&
    `${username}${password}${search}${hash}` === '' &&
    pathname === '/'
  )
}
