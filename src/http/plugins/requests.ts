import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Connections, OpenCall } from '../connections.ts'
import { shownPath } from '../door.ts'
import type { Metrics } from '../metrics.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the client goes away, or when a shutdown waits no longer. */
    gone: OpenCall
    /** What the route of the request says of itself; looked up once, since Fastify makes its options anew for each look. */
    endpoint: FastifyContextConfig & { readonly url?: string }
  }
}

/** The client's own request id when it is harmless, else a new one; for Fastify's `genReqId`. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
}

/** Every request gets its id, its signal, and at its end one log line and its place in the metrics. */
export function addRequests(
  app: FastifyInstance,
  connections: Connections,
  metrics: Metrics,
  log: Logger,
): void {
  app.decorateRequest('gone', null as unknown as OpenCall)
  app.decorateRequest('endpoint', null as unknown as FastifyContextConfig)
  app.addHook('onRequest', (request, reply, done) => {
    const began = performance.now()
    request.endpoint = request.routeOptions.config
    request.gone = connections.open(request.raw, reply.raw, (finished) => {
      request.work?.leave()
      const status = finished ? reply.statusCode : 499
      const seconds = (performance.now() - began) / 1_000
      const route = routeOf(request)
      metrics.requestEnded(route, request.method, status, seconds)
      const level = route?.includes('/health/') === true ? 'debug' : 'info'
      if (!log.isLevelEnabled(level)) return
      const fields = {
        requestId: request.id,
        method: request.method,
        path: route ?? shownPath(request.url),
        status,
        ms: Math.round(seconds * 1e6) / 1e3,
        client: request.ip,
        ...(request.caller && { key: request.caller.keyName }),
      }
      log[level](fields, finished || level === 'debug' ? 'answered' : 'client went away')
    })
    reply.header('x-request-id', request.id)
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      done(new TidemarkError('INVALID_REQUEST', { message: 'The request has no Host header' }))
    } else done()
  })
}

/** The path of the endpoint as it is registered, null for an unknown one. */
export function routeOf(request: FastifyRequest): string | null {
  return request.endpoint.url ?? null
}
