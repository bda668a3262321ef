import type { FastifyRequest } from 'fastify'
import type { Tracer } from '../tracing/tracer.ts'

/**
 * Begins the span of a call whose key is valid, from when the call came: whoever has no key cannot fill the collector,
 * nor decide what is recorded. Probes and pages have no spans.
 */
export function beginCallSpan(request: FastifyRequest, tracer: Tracer): void {
  const { isCall, url: route } = request.endpoint
  if (isCall !== true || route === undefined) return
  const { method, protocol, trace, began } = request
  const attributes = {
    'http.request.method': method,
    // As it is registered, without the names of tags and aliases that a path may hold.
    'http.route': route,
    'url.scheme': protocol,
  }
  request.trace = tracer.begin(trace?.traceparent ?? null, `${method} ${route}`, attributes, began)
}
