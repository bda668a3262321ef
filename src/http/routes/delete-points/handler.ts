import { deletePoints as work } from '../../../write/corrections.ts'
import { bodyCall } from '../../body-call.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const deletePoints: Route = {
  method: 'POST',
  path: '/historian/delete/points',
  access: 'write',
  errors: 'array',
  operation,
  counted: { field: 'ranges', limit: 'tags', code: 'LIMIT_TAGS' },
  handler: bodyCall(work),
}
