import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { digestOf, isUsable, type KeyRecord, type KeyScope } from '../../config/keys.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { MaybePromise } from '../../historian/maybe-promise.ts'
import type { HistorianView } from '../../historian/registry.ts'
import type { CallRates, TooManyCalls } from '../call-rates.ts'
import { beginCallSpan } from '../call-traces.ts'
import { KeyUses } from '../key-uses.ts'
import type { Access } from '../route.ts'
import type { Services } from '../services.ts'
import { queryKeyOf } from '../url-sanitizer.ts'

/** The caller of a request, by its key. */
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
 * Checks the key of every request before anything else is done with it. An unknown path needs a key like any endpoint,
 * so that no caller learns without one which paths exist.
 */
export function addAuthentication(app: FastifyInstance, services: Services, rates: CallRates | null): void {
  app.decorateRequest('caller', null)
  const tracer = services.tracing?.tracer ?? null
  const uses = new KeyUses(services.keys)
  app.addHook('onClose', () => uses.close())
  const callers = new Callers(services, uses)
  app.addHook('onRequest', (request, _reply, done) => {
    const access = neededAccess(request, services)
    const key = presentedKey(request)
    if (key === null) {
      if (access === 'open') return done()
      rates?.take(null, request)
      throw new TidemarkError('KEY_MISSING')
    }
    const admit = (caller: Caller | null) => {
      request.caller = caller
      if (caller !== null && tracer !== null) beginCallSpan(request, tracer)
      done(access === 'open' ? undefined : refusalOf(caller, access, request, rates))
    }
    // Where no key is needed, one that cannot be looked up now is like none.
    const notIdentified = (error: Error) => (access === 'open' ? admit(null) : done(error))
    let identified: MaybePromise<Caller | null>
    try {
      identified = callers.of(key, request.raw.socket)
    } catch (error) {
      return notIdentified(error as Error)
    }
    if (identified instanceof Promise) identified.then(admit, notIdentified)
    else admit(identified)
  })
}

type NeededAccess = Exclude<Access, 'metrics'>

function refusalOf(
  caller: Caller | null,
  access: 'read' | 'write',
  request: FastifyRequest,
  rates: CallRates | null,
): TidemarkError | undefined {
  try {
    // Who watches the service is not kept out by its own calls.
    if (caller === null || request.endpoint.access !== 'metrics')
      rates?.take(caller?.keyName ?? null, request)
  } catch (error) {
    return error as TooManyCalls
  }
  if (caller === null) return new TidemarkError('KEY_INVALID')
  if (access === 'read' || caller.scope === 'write') return undefined
  return new TidemarkError('KEY_READ_ONLY', { operation: request.endpoint.url ?? 'this' })
}

/**
 * The callers by their keys. What a key opens is looked up anew in every tick of the event loop, in which many small
 * requests of the same key may come together: no store shows another state within it.
 */
class Callers {
  readonly #services: Services
  readonly #uses: KeyUses
  readonly #digests = new Digests()
  readonly #views = new WeakMap<KeyRecord, HistorianView>()
  readonly #ofTurn = new Map<string, MaybePromise<Caller | null>>()
  readonly #forget = () => this.#ofTurn.clear()

  constructor(services: Services, uses: KeyUses) {
    this.#services = services
    this.#uses = uses
  }

  /** Null for a key that is unknown, expired or revoked: the client does not learn which. */
  of(key: string, socket: Socket): MaybePromise<Caller | null> {
    let caller = this.#ofTurn.get(key)
    if (caller === undefined) {
      if (this.#ofTurn.size === 0) setImmediate(this.#forget)
      const found = this.#services.keys.find(this.#digests.of(key, socket))
      caller =
        found instanceof Promise ? found.then((record) => this.#callerOf(record)) : this.#callerOf(found)
      this.#ofTurn.set(key, caller)
    }
    return caller
  }

  #callerOf(record: KeyRecord | null): Caller | null {
    const now = this.#services.clock()
    if (record === null || !isUsable(record, now)) return null
    this.#uses.note(record, now)
    return { keyName: record.name, scope: record.scope, historians: this.#viewOf(record) }
  }

  #viewOf(record: KeyRecord): HistorianView {
    const { historians } = this.#services
    if (record.historians === null) return historians
    // A store that remembers how a record reads gives the same one again.
    let view = this.#views.get(record)
    if (view === undefined) {
      view = historians.viewFor(record.historians)
      this.#views.set(record, view)
    }
    return view
  }
}

/**
 * Digests of keys, the last one of each connection remembered: a client sends the same key with each request, and
 * hashing it takes longer than looking it up. What the key opens is looked up every time. Nothing outlives the
 * connection.
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

function neededAccess(request: FastifyRequest, services: Services): NeededAccess {
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
