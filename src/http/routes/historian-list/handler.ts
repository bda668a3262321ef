import { listHistorians as list } from '../../../historian/lists.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { withinDeadline } from '../../within-deadline.ts'
import { operation } from './schema.ts'

export const listHistorians: Route = {
  method: 'GET',
  path: '/historian/list',
  access: 'read',
  errors: 'array',
  operation,
  handler:
    ({ settings }) =>
    async (request) =>
      withinDeadline(request, settings.limits.deadlineSeconds, 'DEADLINE_EXCEEDED', (context) =>
        list(callerOf(request).historians, context),
      ),
}
