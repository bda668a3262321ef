import { searchTags as search } from '../../../historian/search.ts'
import { sendResult } from '../../body-call.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const searchTags: Route = {
  method: 'GET',
  path: '/historian/search',
  access: 'read',
  errors: 'array',
  operation,
  handler: ({ settings }) => {
    const { deadlineSeconds } = settings.limits
    return async (request, reply) => {
      const { historians } = callerOf(request)
      const call = { historians, deadlineSeconds, signal: request.gone }
      return sendResult(request, reply, await search(request.query as Record<string, unknown>, call))
    }
  },
}
