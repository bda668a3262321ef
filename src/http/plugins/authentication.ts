import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { digestOf, isUsable, type KeyScope } from '../../config/keys.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { HistorianView } from '../../historian/registry.ts'
import { queryKeyOf } from '../door.ts'
import type { Access } from '../route.ts'
import type { Services } from '../services.ts'

/** Whoever made a request, as far as its key says. */
export interface Caller {
  /** For the log; a name is no secret. */
  readonly keyName: string
  readonly scope: KeyScope
  /** The historians that the key may see; others do not exist for it. */
  readonly historians: HistorianView
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where no key is needed and no valid one was sent. */
    caller: Caller | null
  }
}

/**
 * Checks the key of every request before anything else is done with it. An unknown path needs a key like any endpoint, so
 * that nobody learns without one what is there.
 */
export function addAuthentication(app: FastifyInstance, services: Services): void {
  app.decorateRequest('caller', null)
  const digests = new Digests()
  app.addHook('onRequest', async (request) => {
    const access = neededAccess(request, services)
    const key = presentedKey(request)
    if (key !== null) {
      const identified = identify(digests.of(key, request.raw.socket), services)
      // Where no key is needed, one that cannot be looked up now is like none.
      request.caller = await (access === 'open' ? identified.catch(() => null) : identified)
    }
    if (access === 'open') return
    if (key === null) throw new TidemarkError('KEY_MISSING')
    if (request.caller === null) throw new TidemarkError('KEY_INVALID')
    if (access === 'write' && request.caller.scope !== 'write') {
      throw new TidemarkError('KEY_READ_ONLY', { operation: request.endpoint.url ?? 'this' })
    }
  })
}

/**
 * Digests of keys, the last one of each connection remembered: a client sends the same key with each request, and hashing it
 * takes longer than looking it up. What the key opens is looked up every time. Nothing outlives the connection.
 */
class Digests {
  readonly #last = new WeakMap<Socket, { readonly key: string; readonly digest: Uint8Array }>()

  of(key: string, socket: Socket): Uint8Array {
    const last = this.#last.get(socket)
    if (last?.key === key) return last.digest
    const digest = digestOf(key)
    this.#last.set(socket, { key, digest })
    return digest
  }
}

/** The caller of a request that could not have come here without a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null)
    throw new TidemarkError('BUG', { what: 'an endpoint asked for a caller without a key' })
  return request.caller
}

function neededAccess(request: FastifyRequest, services: Services): Exclude<Access, 'metrics'> {
  const access = request.is404 ? 'read' : (request.endpoint.access ?? 'open')
  if (access !== 'metrics') return access
  return services.settings.server.metricsNeedKey ? 'read' : 'open'
}

/** The header wins when both are sent, also when it is wrong; an empty one counts as not sent. */
function presentedKey(request: FastifyRequest): string | null {
  const header = request.headers['x-api-key']
  if (typeof header === 'string' && header !== '') return header
  const parameter = queryKeyOf(request.raw)
  return parameter === '' ? null : parameter
}

/** Null for a key that is unknown, expired or revoked: a client is not told which. */
async function identify(digest: Uint8Array, { keys, clock, historians }: Services): Promise<Caller | null> {
  const record = await keys.find(digest)
  if (record === null || !isUsable(record, clock())) return null
  return { keyName: record.name, scope: record.scope, historians: historians.viewFor(record.historians) }
}
