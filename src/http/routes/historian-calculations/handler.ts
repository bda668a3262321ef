import { catalogue } from '../../../calc/functions/catalogue.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const listCalculations: Route = {
  method: 'GET',
  path: '/historian/calculations',
  access: 'read',
  errors: 'array',
  operation,
  handler: () => async () => catalogue(),
}
