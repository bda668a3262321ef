import { z } from 'zod'
import { isHistorianName, isReservedHistorian } from '../../grammar/address.ts'
import { credentialSchema } from '../../historian/remote/credentials.ts'
import { tlsSchema } from '../../historian/remote/tls.ts'

const URL_TEXT = 'the address of a Tidemark such as https://hq.example.com:8443, without key and query'
const NAME = 'the name of a historian there'

const seconds = (least: number, most: number) => {
  const expected = `a number from ${least} to ${most}`
  return z.number(expected).min(least, expected).max(most, expected)
}

/** Configuration of a historian of another instance, besides its type; messages say what is expected. */
export const tidemarkConfigSchema = z.strictObject({
  /** Where the other instance answers, with its base path. */
  url: z.string(URL_TEXT).refine(isServiceUrl, URL_TEXT),
  /** The historian's name there. */
  historian: z
    .string(NAME)
    .max(128, NAME)
    .refine((name) => isHistorianName(name) && !isReservedHistorian(name), NAME),
  /** The API key that the other instance gave out. */
  key: credentialSchema,
  /** Whether points and tags may be changed from here; the other instance must allow it too. */
  writable: z.boolean('true or false').default(false),
  /** Time for one call; below the deadline of calls here, so that only its own labels fail when it is slow. */
  timeoutSeconds: seconds(0.1, 3_600).default(20),
  connectSeconds: seconds(0.1, 600).default(5),
  /** Connections at the same time. */
  connections: z
    .number('a whole number from 1 to 256')
    .int('a whole number from 1 to 256')
    .min(1, 'a whole number from 1 to 256')
    .max(256, 'a whole number from 1 to 256')
    .default(8),
  /** How long a tag that was found is taken to be there, with the metadata that it had; 0 asks every time. */
  metadataSeconds: seconds(0, 3_600).default(10),
  /** Whether bodies travel compressed. */
  gzip: z.boolean('true or false').default(true),
  tls: tlsSchema.optional(),
})

export type TidemarkConfig = z.infer<typeof tidemarkConfigSchema>

function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === '' && hash === ''
}
