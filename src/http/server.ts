import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { isIP } from 'node:net'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  fastify,
  LogController,
} from 'fastify'
import { aliasViews } from '../aliases/view.ts'
import { SIGNATURES } from '../calc/functions/index.ts'
import type { ServerSettings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { HistorianRegistry } from '../historian/registry.ts'
import { afterHops, HOPS_HEADER, readHops } from '../historian/remote/hops.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import { addClientErrors } from './client-errors.ts'
import { Connections } from './connections.ts'
import { admit } from './door.ts'
import { asTidemarkError } from './error-answer.ts'
import { Metrics } from './metrics.ts'
import { observeHistorian } from './observed-historian.ts'
import { openApiDocument } from './openapi/document.ts'
import { addAuthentication } from './plugins/authentication.ts'
import { addCompression } from './plugins/compression.ts'
import { addCors } from './plugins/cors.ts'
import { addErrors } from './plugins/errors.ts'
import { addSecurityHeaders } from './plugins/headers.ts'
import { addJsonBodies, delayContinue } from './plugins/json-bodies.ts'
import { addUnknownPaths, Paths } from './plugins/paths.ts'
import { addReference } from './plugins/reference.ts'
import { addRequests, requestIdOf } from './plugins/requests.ts'
import { addShutdown } from './plugins/shutdown.ts'
import { RequestLog } from './request-log.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes/index.ts'
import type { Parts, Services } from './services.ts'
import { TurnEnd } from './turn-end.ts'
import { WorkInHand } from './work.ts'

/** A head that takes longer than this, or a whole request that takes longer than the next, is cut off with 408. */
const HEAD_TIMEOUT_MS = 60_000
const REQUEST_TIMEOUT_MS = 300_000

/** Longer than the idle timeouts of common proxies, so that it is they who close a connection. */
const KEEP_ALIVE_MS = 75_000

/**
 * The HTTP service, not yet listening. `close()` ends it gracefully (plugins/shutdown.ts) and closes the historians.
 * @throws CONFIG_INVALID when the TLS files cannot be read, or a trusted proxy is no address
 */
export function createServer(services: Services): FastifyInstance & { readonly metrics: Metrics } {
  const { settings, version, log } = services
  const { server: serverSettings } = settings
  const work = new WorkInHand(serverSettings.maxConcurrentCalls, serverSettings.maxBytesInWork)
  const metrics = new Metrics(version, work)
  const aliasesFor = aliasViews(services.aliases, {
    signatures: SIGNATURES,
    defaultHistorian: settings.defaultHistorian,
    clock: services.clock,
    zone: parseTimeZone(settings.timeZone) ?? UTC,
  })
  const observed = services.historians.list().map((historian) => observeHistorian(historian, metrics))
  const historians = new HistorianRegistry(observed, aliasesFor)
  const connections = new Connections()
  const paths = new Paths()

  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // One line per request is written in plugins/requests.ts; Fastify's own would name URLs as they came.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    childLoggerFactory: (parent, bindings, options) => new RequestLog(parent, bindings, options),
    rewriteUrl: admit,
    serverFactory: (handler) => nodeServer(handler as RequestListener, serverSettings.tls),
    trustProxy: trustedProxies(serverSettings.trustedProxies),
    // Requests that arrive on open connections during a shutdown are answered like any other.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
  }) as unknown as FastifyInstance
  const server = app.server as Server
  connections.watch(server)
  delayContinue(app, server)
  addClientErrors(server, log)

  paths.watch(app)
  addErrors(app, paths)
  addRequests(app, connections, metrics, log)
  addSecurityHeaders(app)
  addCors(app, serverSettings.corsOrigins)
  addAuthentication(app, { ...services, historians })
  addUnknownPaths(app, paths)
  addJsonBodies(app, work, Math.min(serverSettings.bodyLimitBytes, serverSettings.maxBytesInWork))
  addCompression(app)
  addShutdown(app, services, connections, work)
  app.addHook('onClose', async () => metrics.close())

  const document = () => openApiDocument(ROUTES, version, serverSettings.basePath)
  const parts: Parts = { ...services, historians, metrics, aliasesFor, document }
  app.register(
    async (scope) => {
      const turn = new TurnEnd()
      for (const route of ROUTES) addRoute(scope, route, parts, turn)
      addReference(scope, document)
    },
    { prefix: serverSettings.basePath },
  )
  return Object.assign(app, { metrics })
}

function addRoute(scope: FastifyInstance, route: Route, parts: Parts, turn: TurnEnd): void {
  const handle = route.handler(parts)
  scope.route({
    method: route.method,
    url: registeredPath(route),
    config: {
      access: route.access,
      errors: route.errors,
      isCall: route.path.startsWith('/historian/'),
      takesJson: route.method === 'POST' || route.method === 'PUT',
      takesBytes: route.takesBytes ?? false,
    },
    // Not an async function: what it would return is sent at the end of the turn, together with the answers of others.
    handler: (request, reply) => {
      const { work } = request
      work?.use()
      const answered = (answer: unknown) =>
        turn.add(() => {
          work?.leave()
          sendAnswer(reply, answer)
        })
      const failed = (error: unknown) => {
        work?.leave()
        sendFailure(reply, error)
      }
      try {
        const hops = readHops(request.headers[HOPS_HEADER])
        const answer =
          hops.length === 0 ? handle(request, reply) : afterHops(hops, () => handle(request, reply))
        if (answer instanceof Promise) answer.then(answered, failed)
        else answered(answer)
      } catch (error) {
        failed(error)
      }
    },
  })
}

/** What a handler gave. Nothing is what remains of an answer that it sent itself, or of one whose client has gone. */
function sendAnswer(reply: FastifyReply, answer: unknown): void {
  if (answer === undefined && (reply.sent || reply.raw.destroyed)) return
  try {
    reply.send(answer)
  } catch (error) {
    sendFailure(reply, error)
  }
}

function sendFailure(reply: FastifyReply, error: unknown): void {
  if (reply.sent) {
    reply.log.error({ err: error }, 'a request failed after its answer')
    return
  }
  try {
    // Fastify knows errors by their class, and would send anything else as it is.
    reply.send(error instanceof Error ? error : asTidemarkError(error))
  } catch (unsendable) {
    // Others' answers come after this one: nothing may be thrown, and the client must not wait for ever.
    reply.log.error({ err: unsendable }, 'an error could not be sent')
    reply.raw.destroy()
  }
}

/** A name at the end of a path may hold slashes, which Fastify only takes with a wildcard. */
function registeredPath({ path }: Route): string {
  return path.replace(/\{\w+\}$/, '*')
}

/** For Fastify's `trustProxy`, which takes addresses, ranges and the names of three ranges. */
function trustedProxies(proxies: readonly string[]): string[] | false {
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const version = isIP(address)
    const isRange =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
    if ((version !== 0 && isRange) || ['loopback', 'linklocal', 'uniquelocal'].includes(proxy)) continue
    const message = `server.trustedProxies: ${proxy} is not allowed: an IP address or a range such as 10.0.0.0/8 is expected`
    throw new TidemarkError('CONFIG_INVALID', { message })
  }
  return proxies.length > 0 && [...proxies]
}

/** One server, also for `localhost`: Fastify by itself would make a second one that knows nothing of what is set up here. */
function nodeServer(handler: RequestListener, tls: ServerSettings['tls']): Server {
  const options = {
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node would answer a request without Host by itself, in another shape; plugins/requests.ts does it in ours.
    requireHostHeader: false,
  }
  if (tls === null) return createHttpServer(options, handler)
  const cert = readPem(tls.certFile, 'server.tls.certFile')
  const key = readPem(tls.keyFile, 'server.tls.keyFile')
  return createHttpsServer({ ...options, cert, key }, handler)
}

function readPem(file: string, setting: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'it cannot be read'
    throw new TidemarkError(
      'CONFIG_INVALID',
      { message: `${setting}: cannot read ${file} (${reason})` },
      { cause },
    )
  }
}
