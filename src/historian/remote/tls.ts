import { z } from 'zod'
import { readSecretFile } from './credentials.ts'

const FILE = 'the path of a PEM file'
const file = z.string(FILE).min(1, FILE).optional()

/** How a connection is encrypted; relative paths are relative to the working directory. */
export const tlsSchema = z
  .strictObject(
    {
      /** Certificates that the historian's own must come from, instead of those of the system. */
      caFile: file,
      /** Certificate and key that the historian knows us by; both or none. */
      certFile: file,
      keyFile: file,
      /** False takes any certificate: for a trial, not for a plant. */
      rejectUnauthorized: z.boolean('true or false').default(true),
      /** Name that the certificate must be for, where it is not the host's. */
      servername: z.string('a host name').min(1, 'a host name').optional(),
    },
    'caFile, certFile, keyFile, rejectUnauthorized or servername',
  )
  .refine(
    ({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined),
    'certFile and keyFile, both or none,',
  )

export type TlsSettings = z.infer<typeof tlsSchema>

/** What node:tls takes. */
export interface TlsOptions {
  readonly rejectUnauthorized: boolean
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly servername?: string
}

/**
 * Reads the files that the settings name; called before each connection, so that renewed certificates are taken without
 * a restart. Rejects with HISTORIAN_UNAVAILABLE where one cannot be read; the cause names it.
 */
export async function readTls(settings: TlsSettings, historian: string): Promise<TlsOptions> {
  const read = (path: string | undefined, what: string) =>
    path === undefined ? undefined : readSecretFile(path, historian, what)
  const [ca, cert, key] = await Promise.all([
    read(settings.caFile, 'certificates'),
    read(settings.certFile, 'certificate'),
    read(settings.keyFile, 'key'),
  ])
  return {
    rejectUnauthorized: settings.rejectUnauthorized,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(settings.servername !== undefined && { servername: settings.servername }),
  }
}
