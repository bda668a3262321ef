import type { FastifyReply } from 'fastify'
import { errorBodyOf } from '../errors/error-body.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { statusOfKind } from './error-status.ts'
import { RETRY_AFTER_SECONDS } from './work.ts'

/** Status, headers and body of the answer to a thrown error. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

/**
 * The general error body of INTERFACE.md section 1: an error's sentence as `message`, and with its code in `issues`.
 * @param shape of `errors`; where it is an object the sentence has no entry or label to stand under, and it stays empty
 */
export function answerToError(thrown: unknown, shape: 'array' | 'object'): ErrorAnswer {
  const error = asTidemarkError(thrown)
  return { status: statusOfKind(error.kind), headers: headersOf(error), body: bodyOf(error, shape) }
}

function bodyOf(error: TidemarkError, shape: 'array' | 'object'): object {
  // Without a key nothing is said about the endpoint, not even the type of its `errors`.
  if (error.kind === 'unauthorized') return { message: error.message, errors: [] }
  const body = errorBodyOf(error)
  return shape === 'array' ? body : { ...body, errors: {} }
}

function headersOf(error: TidemarkError): Record<string, string> {
  if (error.kind === 'unauthorized') return { 'www-authenticate': 'ApiKey realm="tidemark"' }
  if (error.kind === 'overloaded') return { 'retry-after': String(RETRY_AFTER_SECONDS) }
  return {}
}

export function sendError(reply: FastifyReply, thrown: unknown, shape: 'array' | 'object'): FastifyReply {
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
