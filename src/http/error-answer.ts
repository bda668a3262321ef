import type { FastifyReply } from 'fastify'
import { errorBodyOf } from '../errors/error-body.ts'
import { never, TidemarkError } from '../errors/tidemark-error.ts'
import { TooManyCalls } from './call-rates.ts'
import { statusOfKind } from './error-status.ts'
import { RETRY_AFTER_SECONDS } from './work.ts'

/** Status, headers and body of the answer to a thrown error. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

/**
 * What `errors` is on an endpoint: sentences; an object by label, empty where no label is to blame; or one by address,
 * which has the sentence under `*` where no entry is to blame, as clients of metadata take an empty object for success,
 * whatever the status.
 */
export type ErrorsShape = 'array' | 'labels' | 'entries'

/** The address that stands for a request as a whole; it is none itself. */
export const WHOLE_REQUEST = '*'

/**
 * The general error body of INTERFACE.md section 1: an error's sentence as `message`, and with its code in `issues`.
 */
export function answerToError(thrown: unknown, shape: ErrorsShape): ErrorAnswer {
  const error = asTidemarkError(thrown)
  return { status: statusOfKind(error.kind), headers: headersOf(error), body: bodyOf(error, shape) }
}

function bodyOf(error: TidemarkError, shape: ErrorsShape): object {
  const body = errorBodyOf(error)
  switch (shape) {
    case 'array':
      return body
    case 'labels':
      return { ...body, errors: {} }
    case 'entries':
      return { ...body, errors: { [WHOLE_REQUEST]: error.message } }
    default:
      return never(shape)
  }
}

function headersOf(error: TidemarkError): Record<string, string> {
  if (error.kind === 'unauthorized') return { 'www-authenticate': 'ApiKey realm="tidemark"' }
  if (error instanceof TooManyCalls) return { 'retry-after': String(error.retryAfterSeconds) }
  if (error.kind === 'overloaded') return { 'retry-after': String(RETRY_AFTER_SECONDS) }
  return {}
}

export function sendError(reply: FastifyReply, thrown: unknown, shape: ErrorsShape): FastifyReply {
  const { status, headers, body } = answerToError(thrown, shape)
  return reply.code(status).headers(headers).type(JSON_TYPE).send(JSON.stringify(body))
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Ours as it is, Fastify's in our words, and anything else as a bug whose text only the log gets. */
export function asTidemarkError(thrown: unknown): TidemarkError {
  if (thrown instanceof TidemarkError) return thrown
  switch ((thrown as { code?: unknown } | null)?.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new TidemarkError('MEDIA_TYPE', { input: 'of this request' }, { cause: thrown })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new TidemarkError('BODY_TOO_LARGE', { limit: 'allowed' }, { cause: thrown })
    default:
      return new TidemarkError(
        'BUG',
        { what: 'a request failed for a reason that only the log knows' },
        { cause: thrown },
      )
  }
}
