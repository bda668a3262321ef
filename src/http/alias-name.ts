import type { FastifyRequest } from 'fastify'

const PATH = ['historian', 'aliases']

/**
 * The name in the path of an alias, decoded. It may hold slashes, as they are or as `%2F`; one plain slash at the end
 * is that which every path may have, so a name that ends with one has it escaped.
 */
export function aliasNameOf(request: FastifyRequest): string {
  const segments = request.url.split(/[?#]/, 1)[0]!.split('/')
  // They may be escaped, too, as the router decodes them.
  const at = segments.findIndex((_, i) =>
    PATH.every((segment, k) => decodeURIComponent(segments[i + k] ?? '') === segment),
  )
  const name = segments
    .slice(at + PATH.length)
    .join('/')
    .replace(/\/$/, '')
  // What cannot be decoded was escaped when the request came in.
  return decodeURIComponent(name)
}
