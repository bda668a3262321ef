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
    async (_request, reply) =>
      reply.redirect(`${settings.server.basePath}/docs`, 302),
}
