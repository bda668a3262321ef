import { listHistorians as list } from '../../../historian/lists.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const listHistorians: Route = {
  method: 'GET',
  path: '/historian/list',
  access: 'read',
  errors: 'array',
  operation,
  handler: () => async (request) => list(callerOf(request).historians, { signal: request.gone.signal }),
}
