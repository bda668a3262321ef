import { putAlias as put } from '../../../aliases/requests.ts'
import { aliasNameOf } from '../../alias-name.ts'
import { JSON_TYPE } from '../../error-answer.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { withinDeadline } from '../../within-deadline.ts'
import { operation } from './schema.ts'

export const putAlias: Route = {
  method: 'PUT',
  path: '/historian/aliases/{name}',
  access: 'write',
  errors: 'array',
  operation,
  handler:
    ({ aliasesFor, settings }) =>
    async (request, reply) => {
      const aliases = aliasesFor(callerOf(request).historians)
      const { outcome, body } = await withinDeadline(
        request,
        settings.limits.deadlineSeconds,
        'WRITE_DEADLINE_EXCEEDED',
        (context) => put(aliasNameOf(request), request.body, aliases, context),
      )
      return reply
        .code(outcome === 'created' ? 201 : 200)
        .type(JSON_TYPE)
        .send(JSON.stringify(body))
    },
}
