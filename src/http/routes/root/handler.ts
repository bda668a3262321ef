import { sendExplorer } from '../../plugins/explorer.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const root: Route = {
  method: 'GET',
  path: '/',
  access: 'open',
  errors: 'array',
  operation,
  handler:
    ({ settings }) =>
    (_request, reply) =>
      sendExplorer(settings.server.basePath, reply),
}
