import { JSON_TYPE } from '../../error-answer.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const openapi: Route = {
  method: 'GET',
  path: '/openapi.json',
  access: 'open',
  errors: 'array',
  operation,
  handler: ({ document }) => {
    let text: string | undefined
    return async (_request, reply) => {
      text ??= JSON.stringify(document())
      return reply.type(JSON_TYPE).send(text)
    }
  },
}
