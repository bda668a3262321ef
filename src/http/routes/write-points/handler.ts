import { writePoints as work } from '../../../write/write-points.ts'
import { bodyCall } from '../../body-call.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const writePoints: Route = {
  method: 'POST',
  path: '/historian/write/points',
  access: 'write',
  errors: 'array',
  operation,
  handler: bodyCall(work),
}
