import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Connections } from '../connections.ts'
import { shownPath } from '../door.ts'
import type { Metrics } from '../metrics.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the client goes away, or when a shutdown waits no longer. */
    gone: AbortSignal
  }
}

/** The client's own request id when it is harmless, else a new one; for Fastify's `genReqId`. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
}

/** Every request gets its id, its signal, and at its end one log line and its place in the metrics. */
export function addRequests(app: FastifyInstance, connections: Connections, metrics: Metrics): void {
  app.decorateRequest('gone', null as unknown as AbortSignal)
  app.addHook('onRequest', async (request, reply) => {
    const began = performance.now()
    const call = connections.open(request.raw, reply.raw, (finished) => {
      const status = finished ? reply.statusCode : 499
      const seconds = (performance.now() - began) / 1_000
      const route = routeOf(request)
      metrics.requestEnded(route, request.method, status, seconds)
      const fields = {
        method: request.method,
        path: route ?? shownPath(request.url),
        status,
        ms: Math.round(seconds * 1e6) / 1e3,
        client: request.ip,
        ...(request.caller && { key: request.caller.keyName }),
      }
      if (route?.includes('/health/')) request.log.debug(fields, 'answered')
      else request.log.info(fields, finished ? 'answered' : 'client went away')
    })
    request.gone = call.signal
    reply.header('x-request-id', request.id)
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      throw new TidemarkError('INVALID_REQUEST', { message: 'The request has no Host header' })
    }
  })
}

/** The path of the endpoint as it is registered, null for an unknown one. */
export function routeOf(request: FastifyRequest): string | null {
  return request.is404 ? null : (request.routeOptions.url ?? null)
}
