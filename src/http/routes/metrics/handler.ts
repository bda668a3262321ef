import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  access: 'metrics',
  errors: 'array',
  operation,
  handler:
    ({ metrics }) =>
    async (_request, reply) => {
      const { type, text } = await metrics.print()
      return reply.type(type).send(text)
    },
}
