import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Result } from '../errors/outcome.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import type { WriteCall } from '../write/call.ts'
import { sendChunks } from './chunk-stream.ts'
import { JSON_TYPE } from './error-answer.ts'
import { statusOfOutcome } from './error-status.ts'
import { logFailures } from './log-failures.ts'
import { callerOf } from './plugins/authentication.ts'
import { hasLongField, resultChunks } from './result-chunks.ts'
import type { Route } from './route.ts'
import { RETRY_AFTER_SECONDS } from './work.ts'

const NO_OWNER = { giveBack: () => {} }

/** What an endpoint does with its body. */
export type BodyWork = (body: unknown, call: WriteCall, request: FastifyRequest) => Promise<Result<object>>

/** The handler of an endpoint whose work is a function of its JSON body: metadata, writes and corrections. */
export function bodyCall(work: BodyWork): Route['handler'] {
  return ({ settings, clock }) => {
    const defaultZone = parseTimeZone(settings.timeZone) ?? UTC
    const { limits } = settings
    const { deadlineSeconds } = limits
    return async (request, reply) => {
      const { historians } = callerOf(request)
      const call = { historians, now: clock(), defaultZone, deadlineSeconds, limits, signal: request.gone }
      return sendResult(request, reply, await work(request.body, call, request))
    }
  }
}

/**
 * Gives the body of an answer, for the handler to resolve with, and the reply the status of its outcome; what went
 * wrong behind it goes to the log.
 */
export function sendResult(
  request: FastifyRequest,
  reply: FastifyReply,
  result: Result<object>,
): string | Buffer | Readable {
  const { outcome, body, failures = [] } = result
  const status = statusOfOutcome(outcome)
  if (status >= 500) logFailures(request.log, failures, 'a call failed', { outcome })
  if (outcome === 'overloaded') reply.header('retry-after', String(RETRY_AFTER_SECONDS))
  reply.code(status).type(JSON_TYPE)
  return hasLongField(body) ? sendChunks(reply, resultChunks(body), NO_OWNER) : JSON.stringify(body)
}
