import { deleteTags as work } from '../../../write/corrections.ts'
import { bodyCall } from '../../body-call.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const deleteTags: Route = {
  method: 'POST',
  path: '/historian/metadata/delete',
  access: 'write',
  errors: 'array',
  operation,
  counted: { field: 'tags', limit: 'tags', code: 'LIMIT_TAGS' },
  handler: bodyCall(work),
}
