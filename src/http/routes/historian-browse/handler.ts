import { browseTags as browse } from '../../../historian/browse.ts'
import { queryHandler } from '../../query-handler.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const browseTags: Route = {
  method: 'GET',
  path: '/historian/browse',
  access: 'read',
  errors: 'array',
  operation,
  handler: queryHandler(browse),
}
