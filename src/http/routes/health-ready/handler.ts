import type { Historian } from '../../../historian/contract.ts'
import { isForAnotherInstance } from '../../../historian/remote/hops.ts'
import { statusOfKind } from '../../error-status.ts'
import type { Health } from '../../health.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const ready: Route = {
  method: 'GET',
  path: '/health/ready',
  isProbe: true,
  access: 'open',
  errors: 'array',
  operation,
  handler: ({ historians, checkStore, checks }) => {
    return async (request, reply) => {
      const seen = request.caller?.historians ?? historians
      // What is reported to an instance that is one of our historians itself is its own circle, and nothing that others
      // should hear.
      const isCircle = isForAnotherInstance() && request.caller !== null
      const [store, ...states] = await Promise.all([
        checkStore === undefined ? null : checks.ofStore(checkStore),
        ...seen.list().map(async (historian) => ({
          historian,
          health: await (isCircle ? checks.check(historian) : checks.of(historian)),
        })),
      ])
      // Without the store no key can be looked up: no request is answered.
      const isStoreUp = store === null || store.state === 'up'
      const isAnswering = states.length === 0 || states.some(({ health }) => health.state !== 'down')
      const isWell = states.every(({ health }) => health.state === 'up')
      const status = !(isStoreUp && isAnswering) ? 'unavailable' : isWell ? 'ready' : 'degraded'
      reply.code(status === 'unavailable' ? statusOfKind('unavailable') : 200)
      const mayName = request.caller !== null
      return {
        status,
        ...(checkStore !== undefined && { store: { state: isStoreUp ? 'up' : 'down' } }),
        historians: states.map(({ historian, health }) => describe(historian, health, mayName)),
      }
    }
  },
}

function describe(
  { name, type, capabilities }: Historian,
  { state, reason }: Health,
  mayName: boolean,
): object {
  return {
    ...(mayName && { name }),
    type,
    state,
    ...(mayName && reason !== null && { reason }),
    writable: capabilities.write,
    durability: capabilities.durability,
    atomicWrites: capabilities.atomicWrites,
  }
}
