import { issueOf, TidemarkError } from '../../../errors/tidemark-error.ts'
import type { Historian } from '../../../historian/contract.ts'
import { withDeadline } from '../../../historian/deadline.ts'
import { isForAnotherInstance } from '../../../historian/remote/hops.ts'
import { statusOfKind } from '../../error-status.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

/** A historian that does not say within this time that it is well counts as down. */
const CHECK_SECONDS = 3

/** Anybody may ask, so the historians themselves are asked at most this often. */
const FRESH_MS = 1_000

interface Health {
  readonly isUp: boolean
  /** Why it is down, or what somebody should look at although it is up; `null` for nothing. */
  readonly reason: string | null
}

export const ready: Route = {
  method: 'GET',
  path: '/health/ready',
  access: 'open',
  errors: 'array',
  operation,
  handler: ({ historians, checkStore }) => {
    const checks = new HealthChecks()
    return async (request, reply) => {
      const seen = request.caller?.historians ?? historians
      // What an instance is told that is one of our historians itself is its own circle, and nothing that others should hear.
      const isCircle = isForAnotherInstance() && request.caller !== null
      const [store, ...states] = await Promise.all([
        checkStore === undefined ? null : checks.ofStore(checkStore),
        ...seen.list().map(async (historian) => ({
          historian,
          health: await (isCircle ? check(historian) : checks.of(historian)),
        })),
      ])
      const up = states.filter(({ health }) => health.isUp).length
      // Without the store no key can be looked up: nobody is answered.
      const isStoreUp = store?.isUp ?? true
      const isAnswering = isStoreUp && (up > 0 || states.length === 0)
      const status = !isAnswering ? 'unavailable' : up === states.length ? 'ready' : 'degraded'
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
  { isUp, reason }: Health,
  mayName: boolean,
): object {
  return {
    ...(mayName && { name }),
    type,
    state: isUp ? 'up' : 'down',
    ...(mayName && reason !== null && { reason }),
    writable: capabilities.write,
    durability: capabilities.durability,
    atomicWrites: capabilities.atomicWrites,
  }
}

/** The last check of each historian; whoever asks meanwhile shares it. */
class HealthChecks {
  readonly #checks = new Map<string, { readonly began: number; readonly health: Promise<Health> }>()

  of(historian: Historian): Promise<Health> {
    return this.#fresh(historian.name, () => check(historian))
  }

  ofStore(checkStore: () => Promise<void>): Promise<Health> {
    // No historian has an empty name.
    return this.#fresh('', () => check({ name: 'store', checkHealth: checkStore }))
  }

  #fresh(name: string, look: () => Promise<Health>): Promise<Health> {
    const last = this.#checks.get(name)
    if (last !== undefined && performance.now() - last.began < FRESH_MS) return last.health
    const health = look()
    this.#checks.set(name, { began: performance.now(), health })
    return health
  }
}

async function check(historian: Pick<Historian, 'name' | 'checkHealth' | 'trouble'>): Promise<Health> {
  const deadline = withDeadline(new AbortController().signal, CHECK_SECONDS)
  const late = Promise.withResolvers<never>()
  deadline.signal.addEventListener('abort', () => {
    const reason = `no answer within ${CHECK_SECONDS} seconds`
    late.reject(new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: historian.name, reason }))
  })
  try {
    const { signal } = deadline
    await Promise.race([historian.checkHealth({ signal }), late.promise])
    const reason = (await Promise.race([historian.trouble?.({ signal }), late.promise])) ?? null
    return { isUp: true, reason }
  } catch (error) {
    return { isUp: false, reason: issueOf(error).message }
  } finally {
    deadline.done()
  }
}
