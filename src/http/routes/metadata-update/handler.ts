import { updateMetadata as work } from '../../../write/metadata.ts'
import { bodyCall } from '../../body-call.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const updateMetadata: Route = {
  method: 'POST',
  path: '/historian/metadata/update',
  access: 'write',
  errors: 'entries',
  operation,
  counted: { field: 'entries', limit: 'tags', code: 'LIMIT_TAGS' },
  handler: bodyCall(work),
}
