import { getAlias as get } from '../../../aliases/requests.ts'
import { aliasNameOf } from '../../alias-name.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const getAlias: Route = {
  method: 'GET',
  path: '/historian/aliases/{name}',
  access: 'read',
  errors: 'array',
  operation,
  handler:
    ({ aliasesFor }) =>
    async (request) =>
      get(aliasNameOf(request), aliasesFor(callerOf(request).historians)),
}
