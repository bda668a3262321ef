import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const live: Route = {
  method: 'GET',
  path: '/health/live',
  isProbe: true,
  access: 'open',
  errors: 'array',
  operation,
  handler: () => async () => ({ status: 'live' }),
}
