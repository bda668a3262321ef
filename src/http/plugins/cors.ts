import type { FastifyInstance } from 'fastify'

const METHODS = 'GET, HEAD, POST, PUT, DELETE'
const REQUEST_HEADERS = 'Content-Type, Content-Encoding, X-Api-Key, X-Request-Id'
const EXPOSED_HEADERS = 'X-Request-Id, Retry-After, WWW-Authenticate, Allow'
const PREFLIGHT_SECONDS = '600'

/**
 * Lets the web pages of configured origins call the service. A preflight is answered at once: it can carry no key.
 * There are no cookies here, so credentials are never allowed and `*` is safe to configure.
 */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const any = origins.includes('*')
  app.addHook('onRequest', async (request, reply) => {
    if (!any) reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined) return
    const allowed = any || origins.includes(origin)
    if (allowed) {
      reply.header('access-control-allow-origin', any ? '*' : origin)
      reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    }
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return
    if (allowed) {
      reply.header('access-control-allow-methods', METHODS)
      reply.header('access-control-allow-headers', REQUEST_HEADERS)
      reply.header('access-control-max-age', PREFLIGHT_SECONDS)
    }
    return reply.code(204).send()
  })
}
