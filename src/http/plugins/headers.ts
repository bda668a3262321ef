import type { FastifyInstance } from 'fastify'

/** An answer of the interface is data: it loads nothing, and no page may frame it. The reference page sets its own. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // A page that was opened with ?apikey= must not pass it on.
  'referrer-policy': 'no-referrer',
  'content-security-policy': API_POLICY,
  'cache-control': 'no-store',
}

/** Headers that keep a browser from guessing, framing, caching or telling others what it got here. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS)
    done()
  })
}
