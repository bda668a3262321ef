import { sentence, TidemarkError } from '../../errors/tidemark-error.ts'

/*
 * What connected historians say when they cannot answer: one place, so that the same failure reads the same whatever
 * kind of historian it is. The sentences name the historian as configured; addresses, user names, queries and whatever
 * a client library put into its own message stay in `cause`, which only the log sees.
 */

/** Errors that a second try may not meet: the connection failed, nothing was answered. */
const TRANSIENT = new WeakSet<TidemarkError>()

/** The historian cannot be reached, or the connection broke. The reason is worked out from the client's error. */
export function unreachable(historian: string, cause: unknown): TidemarkError {
  const error = unavailable(historian, reasonOf(cause), cause)
  if (isTransientCause(cause)) TRANSIENT.add(error)
  return error
}

/** The historian did not answer in time. @param what waited for, such as `no answer` */
export function timedOut(historian: string, seconds: number, cause?: unknown): TidemarkError {
  return unavailable(historian, `no answer within ${seconds} seconds`, cause)
}

/**
 * The historian did not accept the credentials. @param setting path of the setting that holds them, such as `password`
 */
export function refusedCredentials(historian: string, setting: string, cause?: unknown): TidemarkError {
  return unavailable(historian, `it refused the credentials of the setting ${setting}`, cause)
}

/** The historian cannot answer for a reason that the caller words: no secrets, paths, addresses or queries in it. */
export function unavailable(historian: string, reason: string, cause?: unknown): TidemarkError {
  return new TidemarkError('HISTORIAN_UNAVAILABLE', { historian, reason }, { cause })
}

/** A change that may have been made; change.ts alone decides that one is. @param cause why the outcome is unknown */
export function outcomeUnknown(historian: string, cause: unknown): TidemarkError {
  const reason = cause instanceof TidemarkError ? reasonIn(cause, historian) : reasonOf(cause)
  return new TidemarkError('WRITE_OUTCOME_UNKNOWN', { historian, reason }, { cause })
}

/** Whether the same call may succeed a moment later: no connection came about, or it was closed. */
export function isTransient(error: unknown): boolean {
  return error instanceof TidemarkError && TRANSIENT.has(error)
}

/** Why a connection failed, in words, from the error of a client or of Node; never its own message. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === null) return 'the connection failed'
  const known = REASONS[code]
  if (known !== undefined) return known
  if (isCertificateProblem(code)) return `its certificate is not accepted (${code})`
  return `the connection failed (${code})`
}

/** The code of a client's error, of its cause, or of the first error inside of it; null without one. */
export function codeOf(error: unknown): string | null {
  let inner = error
  for (let depth = 0; depth < MAX_CAUSES && typeof inner === 'object' && inner !== null; depth++) {
    const { code, errors, cause } = inner as { code?: unknown; errors?: unknown; cause?: unknown }
    if (typeof code === 'string' && /^[A-Za-z0-9_]{1,60}$/.test(code)) return code
    // Several addresses were tried; they mostly fail alike.
    inner = Array.isArray(errors) && errors.length > 0 ? errors[0] : cause
  }
  return null
}

const MAX_CAUSES = 5

const CUT = 'the connection was cut'
const NO_CONNECTION = 'no connection came about in time'

const REASONS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name cannot be looked up now',
  ENOENT: 'there is no such socket',
  EHOSTUNREACH: 'there is no way to its host',
  ENETUNREACH: 'there is no way to its network',
  ECONNRESET: CUT,
  EPIPE: CUT,
  ECONNABORTED: CUT,
  UND_ERR_SOCKET: CUT,
  UND_ERR_CLOSED: 'the historian was closed',
  UND_ERR_DESTROYED: 'the historian was closed',
  ETIMEDOUT: NO_CONNECTION,
  UND_ERR_CONNECT_TIMEOUT: NO_CONNECTION,
  UND_ERR_HEADERS_OVERFLOW: 'its answer is not understood',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CUT,
})

const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
])

function isTransientCause(error: unknown): boolean {
  return TRANSIENT_CODES.has(codeOf(error) ?? '')
}

function isCertificateProblem(code: string): boolean {
  return /CERT|SELF_SIGNED|^UNABLE_TO_|^ERR_TLS|^ERR_SSL|ALTNAME/.test(code)
}

/**
 * The part of an error's sentence that is the reason, so that it can stand in another sentence; the whole of it where
 * there is none.
 */
export function reasonIn({ code, message }: TidemarkError, historian: string): string {
  const beginning = sentence(code, { historian, reason: '' })
  return message.length > beginning.length && message.startsWith(beginning)
    ? message.slice(beginning.length)
    : message
}
