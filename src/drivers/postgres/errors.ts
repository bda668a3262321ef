import pg from 'pg'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { refusedCredentials, timedOut, unavailable, unreachable } from '../../historian/remote/unavailable.ts'

/** What an error of the client or the server means for the caller: a TidemarkError that names the historian. */
export function translate(error: unknown, historian: string, timeoutSeconds: number): TidemarkError {
  if (error instanceof TidemarkError) return error
  if (error instanceof pg.DatabaseError) return ofServer(error, historian, timeoutSeconds)
  const message = error instanceof Error ? error.message : ''
  // The library words these itself, without a code.
  if (/timeout/.test(message)) return unreachable(historian, coded('ETIMEDOUT', error))
  if (/terminated|not queryable|end\(\) was called/.test(message))
    return unreachable(historian, coded('ECONNRESET', error))
  if (/does not support SSL/.test(message)) return unavailable(historian, 'it does not offer TLS', error)
  return unreachable(historian, error)
}

function ofServer(error: pg.DatabaseError, historian: string, timeoutSeconds: number): TidemarkError {
  const code = error.code ?? ''
  if (code === '57014') return timedOut(historian, timeoutSeconds, error)
  if (code === '28P01' || code === '28000') return refusedCredentials(historian, 'password', error)
  if (isCut(code)) return unreachable(historian, coded('ECONNRESET', error))
  if (code.startsWith('XX00') && code !== 'XX000') {
    return new TidemarkError(
      'STORAGE_CORRUPT',
      { historian, reason: `the server says so (${code})` },
      { cause: error },
    )
  }
  const reason =
    REASONS[code] ??
    (/^[0-9A-Z]{5}$/.test(code) ? `the server refused a query (${code})` : 'the server refused a query')
  return unavailable(historian, reason, error)
}

/** Whether the session has ended: the server goes down, or somebody ended it. */
export function isCut(code: string): boolean {
  return code.startsWith('08') || code === '57P01' || code === '57P02' || code === '57P03' || code === '57P05'
}

/**
 * Whether the server said that a statement failed, and neither that the session ended nor that it does not know (40003)
 * what became of the statement.
 */
export function isRefused(error: unknown): boolean {
  const code = sqlStateOf(error)
  return code !== '' && code !== '40003' && !isCut(code)
}

const REASONS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  '3D000': 'its database does not exist',
  '3F000': 'the schema of the configuration does not exist',
  '42P01': 'a table of the configuration does not exist',
  '42703': 'a column of the configuration does not exist',
  '42883': 'a column of the configuration has another type than is expected',
  '42804': 'a column of the configuration has another type than is expected',
  '42501': 'its user is not allowed to do that',
  '25006': 'it takes no changes now: it is a standby or set to read-only',
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53300': 'it has no connection to spare',
  '55P03': 'what it needed is locked',
})

/** SQLSTATE of an error, through its causes; empty without one. */
export function sqlStateOf(error: unknown): string {
  for (let inner = error, depth = 0; depth < 5 && inner instanceof Error; depth++, inner = inner.cause) {
    if (inner instanceof pg.DatabaseError) return inner.code ?? ''
  }
  return ''
}

function coded(code: string, cause: unknown): Error {
  return Object.assign(new Error(code, { cause }), { code })
}

/** A change of a historian that is configured read-only. Callers ask `capabilities` first. */
export function readOnly(historian: string, operation: string): TidemarkError {
  return new TidemarkError('NOT_SUPPORTED', { historian, operation })
}
