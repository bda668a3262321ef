import type { FastifyInstance, FastifyReply } from 'fastify'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { asTidemarkError, sendError } from '../error-answer.ts'
import type { Paths } from './paths.ts'
import { routeOf } from './requests.ts'

/**
 * Every error that reaches Fastify becomes the general error body; what is our fault or a historian's is logged whole.
 */
export function addErrors(app: FastifyInstance, paths: Paths): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = isClientGone(thrown, reply) ? new TidemarkError('CANCELLED') : asTidemarkError(thrown)
    const fields = { err: error, route: routeOf(request), code: error.code }
    if (error.kind === 'bug' || error.kind === 'corrupt') request.log.error(fields, 'a request failed')
    else if (error.kind === 'unavailable') request.log.warn(fields, 'a historian did not answer')
    return sendError(reply, error, paths.errorsAt(request))
  })
}

/** Whether an answer's stream was only ended because nobody is there to take it. */
function isClientGone(thrown: unknown, reply: FastifyReply): boolean {
  return (thrown as { code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.destroyed
}
