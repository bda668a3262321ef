import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Result } from '../errors/outcome.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import type { WriteCall } from '../write/call.ts'
import { JSON_TYPE } from './error-answer.ts'
import { statusOfOutcome } from './error-status.ts'
import { callerOf } from './plugins/authentication.ts'
import type { Route } from './route.ts'
import { RETRY_AFTER_SECONDS } from './work.ts'

/** The handler of an endpoint whose work is a function of its JSON body: metadata, writes and corrections. */
export function bodyCall(
  work: (body: unknown, call: WriteCall) => Promise<Result<object>>,
): Route['handler'] {
  return ({ settings, clock }) => {
    const defaultZone = parseTimeZone(settings.timeZone) ?? UTC
    const { deadlineSeconds } = settings.limits
    return async (request, reply) => {
      const { historians } = callerOf(request)
      const call = { historians, now: clock(), defaultZone, deadlineSeconds, signal: request.gone }
      return sendResult(request, reply, await work(request.body, call))
    }
  }
}

/**
 * Gives the body of an answer, for the handler to resolve with, and the reply the status of its outcome; what went wrong
 * behind it goes to the log.
 */
export function sendResult(request: FastifyRequest, reply: FastifyReply, result: Result<object>): string {
  const { outcome, body, failures = [] } = result
  const status = statusOfOutcome(outcome)
  for (const failure of failures) {
    if (status >= 500) request.log.warn({ err: failure, outcome }, 'a call failed')
  }
  if (outcome === 'overloaded') reply.header('retry-after', String(RETRY_AFTER_SECONDS))
  reply.code(status).type(JSON_TYPE)
  return JSON.stringify(body)
}
