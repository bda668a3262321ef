import { deleteAlias as remove } from '../../../aliases/requests.ts'
import { aliasNameOf } from '../../alias-name.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { withinDeadline } from '../../within-deadline.ts'
import { operation } from './schema.ts'

export const deleteAlias: Route = {
  method: 'DELETE',
  path: '/historian/aliases/{name}',
  access: 'write',
  errors: 'array',
  operation,
  handler:
    ({ aliasesFor, settings }) =>
    async (request, reply) => {
      await withinDeadline(request, settings.limits.deadlineSeconds, 'WRITE_DEADLINE_EXCEEDED', () =>
        remove(aliasNameOf(request), aliasesFor(callerOf(request).historians)),
      )
      return reply.code(204).send()
    },
}
