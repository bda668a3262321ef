import type { Result } from '../errors/outcome.ts'
import type { QueryCall } from '../historian/query-call.ts'
import type { QueryParameters } from '../historian/query-parameters.ts'
import { sendResult } from './body-call.ts'
import { callerOf } from './plugins/authentication.ts'
import type { Route } from './route.ts'

/**
 * The handler of an endpoint without a body, whose query parameters say what is asked for of the caller's historians.
 */
export function queryHandler(
  answer: (query: QueryParameters, call: QueryCall) => Promise<Result<object>>,
): Route['handler'] {
  return ({ settings }) => {
    const { deadlineSeconds } = settings.limits
    return async (request, reply) => {
      const { historians } = callerOf(request)
      const call = { historians, deadlineSeconds, signal: request.gone }
      return sendResult(request, reply, await answer(request.query as QueryParameters, call))
    }
  }
}
