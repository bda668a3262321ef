import type { FastifyInstance } from 'fastify'
import { asTidemarkError, sendError } from '../error-answer.ts'
import type { Paths } from './paths.ts'
import { routeOf } from './requests.ts'

/** Every error that reaches Fastify becomes the general error body; what is our fault or a historian's is logged whole. */
export function addErrors(app: FastifyInstance, paths: Paths): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = asTidemarkError(thrown)
    const fields = { err: error, route: routeOf(request), code: error.code }
    if (error.kind === 'bug' || error.kind === 'corrupt') request.log.error(fields, 'a request failed')
    else if (error.kind === 'unavailable') request.log.warn(fields, 'a historian did not answer')
    return sendError(reply, error, paths.errorsAt(request))
  })
}
