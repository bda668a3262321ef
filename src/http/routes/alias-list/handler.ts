import { listAliases as list } from '../../../aliases/requests.ts'
import { withDeadline } from '../../../historian/deadline.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const listAliases: Route = {
  method: 'GET',
  path: '/historian/aliases',
  access: 'read',
  errors: 'array',
  operation,
  handler: ({ settings, aliasesFor }) => {
    const { deadlineSeconds } = settings.limits
    return async (request) => {
      const aliases = aliasesFor(callerOf(request).historians)
      const deadline = withDeadline(request.gone, deadlineSeconds)
      try {
        return await list(request.query as Record<string, unknown>, aliases, { signal: deadline.signal })
      } finally {
        deadline.done()
      }
    }
  },
}
