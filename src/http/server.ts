import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  fastify,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { aliasViews } from '../aliases/view.ts'
import { SIGNATURES } from '../calc/functions/index.ts'
import { proxyProblems } from '../config/check.ts'
import type { LimitSettings, ServerSettings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { HistorianRegistry } from '../historian/registry.ts'
import { afterHops, HOPS_HEADER, readHops } from '../historian/remote/hops.ts'
import { type JsonRules, NO_RULES } from '../json/rules.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import { withinTrace } from '../tracing/span.ts'
import { CallRates } from './call-rates.ts'
import { addClientErrors } from './client-errors.ts'
import { ConnectionLimits } from './connection-limits.ts'
import { Connections } from './connections.ts'
import { asTidemarkError, JSON_TYPE } from './error-answer.ts'
import { HealthChecks } from './health.ts'
import { HistorianMetrics } from './historian-metrics.ts'
import { KeyGauges } from './key-gauges.ts'
import { Metrics } from './metrics.ts'
import { type CallWatch, observeHistorian } from './observed-historian.ts'
import { openApiDocument } from './openapi/document.ts'
import { addAuthentication } from './plugins/authentication.ts'
import { addCompression } from './plugins/compression.ts'
import { addCors } from './plugins/cors.ts'
import { addErrors } from './plugins/errors.ts'
import { addExplorer } from './plugins/explorer.ts'
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
import { TickEnd } from './tick-end.ts'
import { readTlsFiles, renewCertificates } from './tls-files.ts'
import { sanitizeUrl } from './url-sanitizer.ts'
import { WorkInHand } from './work.ts'
import { WriteFailures } from './write-failures.ts'

/** A request that takes longer than this to arrive is cut off with 408. */
const REQUEST_TIMEOUT_MS = 300_000
/** Node looks for late heads and requests this often; shorter where they may be late sooner. */
const LATE_CHECK_MS = 5_000

/** Longer than the idle timeouts of common proxies, so that it is they who close a connection. */
const KEEP_ALIVE_MS = 75_000

export interface HttpService extends FastifyInstance {
  readonly metrics: Metrics
  readonly historianMetrics: HistorianMetrics
}

/**
 * The HTTP service, not yet listening. `close()` ends it gracefully (plugins/shutdown.ts) and closes the historians.
 * @throws CONFIG_INVALID when the TLS files cannot be read, or a trusted proxy is no address
 */
export function createServer(services: Services): HttpService {
  const { settings, version, log, tracing = null } = services
  const { server: serverSettings } = settings
  const trustProxy = trustedProxies(serverSettings.trustedProxies)
  const work = new WorkInHand(serverSettings)
  const connectionLimits = new ConnectionLimits(serverSettings, log)
  const { callsPerSecond } = serverSettings
  const rates = callsPerSecond === null ? null : new CallRates(callsPerSecond)
  const metrics = new Metrics({
    version,
    work,
    rates,
    spans: () => tracing?.counts() ?? { exported: 0, dropped: 0 },
    connections: connectionLimits,
    keys: new KeyGauges(services.keys, services.clock),
    measureData: services.measureData ?? (async () => null),
    unhandledRejections: services.unhandledRejections ?? (() => 0),
  })
  const aliasesFor = aliasViews(services.aliases, {
    signatures: SIGNATURES,
    defaultHistorian: settings.defaultHistorian,
    clock: services.clock,
    zone: parseTimeZone(settings.timeZone) ?? UTC,
  })
  const failures = new WriteFailures()
  const checks = new HealthChecks(failures)
  const historianMetrics = new HistorianMetrics(() => observed, checks)
  const watch: CallWatch = {
    changeSucceeded: (historian) => failures.succeeded(historian),
    callFailed: (historian, operation, error, isChange) => {
      historianMetrics.callFailed(historian, operation, error)
      if (isChange) failures.failed(historian, error)
    },
  }
  const observed = services.historians
    .list()
    .map((historian) => observeHistorian(historian, metrics, watch, tracing !== null))
  const historians = new HistorianRegistry(observed, aliasesFor)
  const connections = new Connections()
  const paths = new Paths()

  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // One line per request is written in plugins/requests.ts; Fastify's own would name URLs as they came.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    childLoggerFactory: (parent, bindings, options) => new RequestLog(parent, bindings, options),
    rewriteUrl: sanitizeUrl,
    serverFactory: (handler) => nodeServer(handler as RequestListener, serverSettings),
    trustProxy,
    // Requests that arrive on open connections during a shutdown are answered like any other.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
  }) as unknown as FastifyInstance
  const server = app.server as Server
  if (serverSettings.tls !== null) renewCertificates(app.server as HttpsServer, serverSettings.tls, log)
  connectionLimits.watch(server)
  connections.watch(server)
  delayContinue(app, server)
  addClientErrors(server, log)

  paths.watch(app)
  addErrors(app, paths)
  addRequests(app, connections, metrics, log)
  addSecurityHeaders(app)
  addCors(app, serverSettings.corsOrigins)
  addAuthentication(app, { ...services, historians }, rates)
  addUnknownPaths(app, paths)
  addJsonBodies(app, work, serverSettings)
  addCompression(app)
  addShutdown(app, services, connections, work)
  app.addHook('onClose', async () => {
    metrics.close()
    checks.close()
    await tracing?.close()
  })

  const document = () => openApiDocument(ROUTES, version, serverSettings.basePath)
  const parts: Parts = { ...services, historians, metrics, historianMetrics, checks, aliasesFor, document }
  app.register(
    async (scope) => {
      const tickEnd = new TickEnd()
      for (const route of ROUTES) addRoute(scope, route, parts, tickEnd)
      addOpeningLook(scope)
      addReference(scope, document)
      addExplorer(scope)
    },
    { prefix: serverSettings.basePath },
  )
  // Who looks after the process need not know under which path a proxy shows it to others.
  if (serverSettings.basePath !== '') {
    const tickEnd = new TickEnd()
    app.register(async (scope) => {
      for (const route of ROUTES) if (route.isProbe === true) addRoute(scope, route, parts, tickEnd)
    })
  }
  app.addHook('onListen', async () => tellUnreachable(observed, checks, log))
  return Object.assign(app, { metrics, historianMetrics })
}

/** Says in the log which historians cannot be reached now; they are used as soon as they can. */
function tellUnreachable(historians: readonly Historian[], checks: HealthChecks, log: Logger): void {
  for (const historian of historians) {
    void checks.of(historian).then(({ state, reason }) => {
      if (state === 'up' || checks.isClosed) return
      log.warn(
        { historian: historian.name, state, reason },
        `historian ${historian.name} is ${state} at the start`,
      )
    })
  }
}

function addRoute(scope: FastifyInstance, route: Route, parts: Parts, tickEnd: TickEnd): void {
  const handle = route.handler(parts)
  for (const path of [route.path, ...(route.otherPaths ?? [])])
    addPath(scope, { ...route, path }, handle, parts, tickEnd)
}

function addPath(
  scope: FastifyInstance,
  route: Route,
  handle: ReturnType<Route['handler']>,
  parts: Parts,
  tickEnd: TickEnd,
): void {
  const { server } = parts.settings
  // Points are data and may be many; all other bodies say what to do with it.
  const bodyLimitBytes = route.takesBytes === true ? server.writeBodyLimitBytes : server.bodyLimitBytes
  scope.route({
    method: route.method,
    url: registeredPath(route),
    config: {
      access: route.access,
      errors: route.errors,
      isCall: /^\/historian(?:-servlet)?\//.test(route.path),
      takesJson: route.method === 'POST' || route.method === 'PUT',
      takesBytes: route.takesBytes ?? false,
      bodyLimitBytes: Math.min(bodyLimitBytes, server.maxBytesInWork),
      rules: rulesOf(route, parts.settings.limits),
    },
    // Not an async function: what it would return is sent at the end of the tick, together with the answers of others.
    handler: (request, reply) => {
      const { work } = request
      work?.use()
      const answered = (answer: unknown) =>
        tickEnd.add(() => {
          work?.leave()
          sendAnswer(reply, answer)
        })
      const failed = (error: unknown) => {
        work?.leave()
        sendFailure(reply, error)
      }
      try {
        const hops = readHops(request.headers[HOPS_HEADER])
        const { trace } = request
        const answer =
          hops.length === 0 && trace === null
            ? handle(request, reply)
            : withinTrace(trace, () => afterHops(hops, () => handle(request, reply)))
        if (answer instanceof Promise) answer.then(answered, failed)
        else answered(answer)
      } catch (error) {
        failed(error)
      }
    },
  })
}

/**
 * A client of the interface opens with `GET //historian/list`, without its key, and goes on only after a 200. Exactly
 * this is answered, with an empty list, with or without a key.
 */
function addOpeningLook(scope: FastifyInstance): void {
  scope.get('//historian/list', { config: { access: 'open' } }, async (_request, reply) =>
    reply.type(JSON_TYPE).send('{"historians":[]}'),
  )
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

function rulesOf({ counted }: Route, limits: LimitSettings): JsonRules {
  if (counted === undefined) return NO_RULES
  const { field, limit: name, code } = counted
  const most = limits[name]
  return { counted: { field, most, refuse: () => new TidemarkError(code, { limit: most }) } }
}

/** A name at the end of a path may hold slashes, which Fastify only takes with a wildcard. */
function registeredPath({ path }: Route): string {
  return path.replace(/\{\w+\}$/, '*')
}

/** For Fastify's `trustProxy`, which takes addresses, ranges and the names of three ranges. */
function trustedProxies(proxies: readonly string[]): string[] | false {
  const [problem] = proxyProblems(proxies)
  if (problem !== undefined) throw new TidemarkError('CONFIG_INVALID', { message: problem })
  return proxies.length > 0 && [...proxies]
}

/**
 * One server, also for `localhost`: Fastify by itself would make a second one that knows nothing of what is set up
 * here.
 */
function nodeServer(handler: RequestListener, { tls, silenceSeconds }: ServerSettings): Server {
  const silenceMs = Math.ceil(silenceSeconds * 1_000)
  const options = {
    headersTimeout: silenceMs,
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, silenceMs),
    connectionsCheckingInterval: Math.min(LATE_CHECK_MS, silenceMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node would answer a request without Host by itself, in another shape; plugins/requests.ts does it in ours.
    requireHostHeader: false,
  }
  if (tls === null) return createHttpServer(options, handler)
  return createHttpsServer({ ...options, ...readTlsFiles(tls), handshakeTimeout: silenceMs }, handler)
}
