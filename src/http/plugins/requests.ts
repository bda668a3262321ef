import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { bareKey, looksLikeKey } from '../../config/keys.ts'
import { showInput, TidemarkError } from '../../errors/tidemark-error.ts'
import type { Span, Trace } from '../../tracing/span.ts'
import { readTraceparent, TRACE_HEADER, traceIdOf } from '../../tracing/traceparent.ts'
import type { Connections, OpenCall } from '../connections.ts'
import type { Metrics } from '../metrics.ts'
import { queryKeyOf, shownPath } from '../url-sanitizer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the client goes away, or when a shutdown waits no longer. */
    gone: OpenCall
    /**
     * What the route of the request says of itself; looked up once, since Fastify makes its options anew for each look.
     */
    endpoint: FastifyContextConfig & { readonly url?: string }
    /** When it came, of `performance.now()`. */
    began: number
    /** The trace that it belongs to, with its span where it is recorded; `null` without one. */
    trace: Trace | null
  }
}

/**
 * The client's own request id when it is harmless, else a new one; for Fastify's `genReqId`. One that is or holds a key
 * is none: the id stands in answers and in the log.
 */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  if (typeof given !== 'string' || !/^[A-Za-z0-9._-]{1,128}$/.test(given)) return randomUUID()
  return looksLikeKey(given) || holdsKey(given, request) ? randomUUID() : given
}

/** Whether an id holds the key that came with it, as it was sent or without the prefix that ours have. */
function holdsKey(id: string, request: IncomingMessage): boolean {
  for (const key of [request.headers['x-api-key'], queryKeyOf(request)]) {
    if (typeof key === 'string' && key.length >= SHORTEST_KEY && id.includes(bareKey(key))) return true
  }
  return false
}

/** Anything shorter is no key of ours, and may occur in an id by chance. */
const SHORTEST_KEY = 8

/** What is ambiguous or not parsed in the head of a request; `null` for nothing. */
function headProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): TidemarkError | null {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) return invalidHead('The request has more than one Host header')
  if (hosts === 0 && httpVersion === '1.1') return invalidHead('The request has no Host header')
  const coding = headers['transfer-encoding']
  if (coding === undefined || coding.trim().toLowerCase() === 'chunked') return null
  return new TidemarkError('TRANSFER_CODING', { input: showInput(coding) })
}

function invalidHead(message: string): TidemarkError {
  return new TidemarkError('INVALID_REQUEST', { message })
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
  app.decorateRequest('began', 0)
  app.decorateRequest('trace', null)
  app.addHook('onRequest', (request, reply, done) => {
    const began = performance.now()
    request.began = began
    request.endpoint = request.routeOptions.config
    request.trace = traceOfCaller(request)
    request.gone = connections.open(request.raw, reply.raw, (finished) => {
      request.work?.leave()
      const status = finished ? reply.statusCode : 499
      const seconds = (performance.now() - began) / 1_000
      const route = routeOf(request)
      metrics.requestEnded(route, request.method, status, seconds)
      const { trace } = request
      if (trace?.span) endSpan(trace.span, status)
      const level = route?.includes('/health/') === true ? 'debug' : 'info'
      if (!log.isLevelEnabled(level)) return
      const fields = {
        requestId: request.id,
        method: request.method,
        path: route ?? shownPath(request.url),
        status,
        ms: Math.round(seconds * 1e6) / 1e3,
        client: request.ip,
        ...(trace !== null && { traceId: traceIdOf(trace.traceparent) }),
        ...(request.caller && { key: request.caller.keyName }),
      }
      log[level](fields, finished || level === 'debug' ? 'answered' : 'client went away')
    })
    reply.header('x-request-id', request.id)
    done(headProblem(request.raw) ?? undefined)
  })
}

/** The trace that a request brings. It gets a span when its key is known: see call-traces.ts. */
function traceOfCaller(request: FastifyRequest): Trace | null {
  const incoming = readTraceparent(request.headers[TRACE_HEADER])
  return incoming === null ? null : { traceparent: incoming, span: null }
}

function endSpan(span: Span, status: number): void {
  span.set('http.response.status_code', status)
  if (status >= 500) span.fail(String(status))
  span.end()
}

/** The path of the endpoint as it is registered, null for an unknown one. */
export function routeOf(request: FastifyRequest): string | null {
  return request.endpoint.url ?? null
}
