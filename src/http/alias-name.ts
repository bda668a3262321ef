import type { FastifyRequest } from 'fastify'

const PATH = '/historian/aliases/'

/**
 * The name in the path of an alias, decoded. It may hold slashes, as they are or as `%2F`; one plain slash at the end
 * is that which every path may have, so a name that ends with one has it escaped.
 */
export function aliasNameOf(request: FastifyRequest): string {
  const path = request.url.split(/[?#]/, 1)[0]!
  const name = path.slice(path.indexOf(PATH) + PATH.length).replace(/\/$/, '')
  // What cannot be decoded was escaped when the request came in.
  return decodeURIComponent(name)
}
