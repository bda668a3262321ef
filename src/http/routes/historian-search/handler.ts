import { searchTags as search } from '../../../historian/search.ts'
import { queryHandler } from '../../query-handler.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const searchTags: Route = {
  method: 'GET',
  path: '/historian/search',
  access: 'read',
  errors: 'array',
  operation,
  handler: queryHandler(search),
}
