import { renameTags as work } from '../../../write/rename.ts'
import { bodyCall } from '../../body-call.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const renameTags: Route = {
  method: 'POST',
  path: '/historian/metadata/rename',
  access: 'write',
  errors: 'array',
  operation,
  counted: { field: 'renames', limit: 'tags', code: 'LIMIT_TAGS' },
  handler: bodyCall(work),
}
