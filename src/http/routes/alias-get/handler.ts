import { getAlias as get } from '../../../aliases/requests.ts'
import { aliasNameOf } from '../../alias-name.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { withinDeadline } from '../../within-deadline.ts'
import { operation } from './schema.ts'

export const getAlias: Route = {
  method: 'GET',
  path: '/historian/aliases/{name}',
  access: 'read',
  errors: 'array',
  operation,
  handler:
    ({ aliasesFor, settings }) =>
    async (request) =>
      withinDeadline(request, settings.limits.deadlineSeconds, 'DEADLINE_EXCEEDED', () =>
        get(aliasNameOf(request), aliasesFor(callerOf(request).historians)),
      ),
}
