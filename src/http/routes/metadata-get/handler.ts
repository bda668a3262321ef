import { getMetadata as work } from '../../../write/metadata.ts'
import { bodyCall } from '../../body-call.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const getMetadata: Route = {
  method: 'POST',
  path: '/historian/metadata/get',
  access: 'read',
  errors: 'entries',
  operation,
  counted: { field: 'tags', limit: 'tags', code: 'LIMIT_TAGS' },
  handler: bodyCall(work),
}
