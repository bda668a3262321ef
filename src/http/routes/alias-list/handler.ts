import { listAliases as list } from '../../../aliases/requests.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { withinDeadline } from '../../within-deadline.ts'
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
      return withinDeadline(request, deadlineSeconds, 'DEADLINE_EXCEEDED', (context) =>
        list(request.query as Record<string, unknown>, aliases, context),
      )
    }
  },
}
