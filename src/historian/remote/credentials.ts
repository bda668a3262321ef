import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { unavailable } from './unavailable.ts'

const EXPECTED = 'env: <name of a variable> or file: <path>, never the secret itself,'
const FILE = 'the path of a file'
const VARIABLE = 'the name of an environment variable'

/** Nothing longer is a password, a token or a key. */
const MAX_SECRET_BYTES = 64 * 1024

/** Where a secret stands: in an environment variable or in a file. The configuration never holds the secret itself. */
export const credentialSchema = z
  .strictObject(
    {
      env: z
        .string(VARIABLE)
        .regex(/^[A-Za-z_][A-Za-z0-9_]{0,200}$/, VARIABLE)
        .optional(),
      /** A relative path is relative to the working directory. */
      file: z.string(FILE).min(1, FILE).optional(),
    },
    EXPECTED,
  )
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), EXPECTED)

export type Credential = z.infer<typeof credentialSchema>

/**
 * A secret that is read when it is needed and kept until `forget`, so that one that was changed is found at the next
 * connection without a restart. It never stands in an error: those name the variable or the file.
 */
export class CredentialReader {
  readonly #credential: Credential
  readonly #historian: string
  readonly #environment: NodeJS.ProcessEnv
  #secret: Promise<string> | null = null

  /** @param historian named in errors */
  constructor(credential: Credential, historian: string, environment: NodeJS.ProcessEnv = process.env) {
    this.#credential = credential
    this.#historian = historian
    this.#environment = environment
  }

  /**
   * The secret without line breaks at its end. Rejects with HISTORIAN_UNAVAILABLE when it is missing, empty or not to
   * be read.
   */
  read(): Promise<string> {
    if (this.#secret !== null) return this.#secret
    const secret = readCredential(this.#credential, this.#historian, this.#environment)
    this.#secret = secret
    // One that could not be read is looked for again.
    secret.catch(() => this.forget())
    return secret
  }

  /** The next `read` looks anew: to be called when a connection is made, or when the historian refused the secret. */
  forget(): void {
    this.#secret = null
  }

  /**
   * Looks anew and says whether the secret is another one than `refused`; then the refused call is worth a second try.
   * @param refused  what that call was sent with, as another call may have looked anew meanwhile
   */
  async hasChanged(refused: string): Promise<boolean> {
    this.forget()
    return (await this.read()) !== refused
  }
}

/** The secret as it stands now; see CredentialReader. */
export async function readCredential(
  { env, file }: Credential,
  historian: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  if (env !== undefined) {
    const secret = environment[env]
    if (secret === undefined || secret === '') {
      throw unavailable(historian, `the environment variable ${env} with its credentials is not set`)
    }
    return secret
  }
  const secret = (await readSecretFile(file!, historian, 'credentials'))
    .toString('utf8')
    .replace(/[\r\n]+$/, '')
  if (secret === '')
    throw unavailable(historian, 'the file with its credentials is empty', new Error(`${file} is empty`))
  return secret
}

/**
 * Bytes of a file that a connection needs. Sentences reach clients and name no path: that stands in the cause, which
 * the log shows.
 * @param what it holds, for the sentence
 */
export async function readSecretFile(file: string, historian: string, what: string): Promise<Buffer> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'it cannot be read'
    const error = new Error(`${file} cannot be read`, { cause })
    throw unavailable(historian, `the file with its ${what} cannot be read (${code})`, error)
  }
  if (bytes.length > MAX_SECRET_BYTES)
    throw unavailable(historian, `the file with its ${what} is too large`, new Error(`${file} is too large`))
  return bytes
}
