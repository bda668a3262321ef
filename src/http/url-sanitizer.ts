import type { IncomingMessage } from 'node:http'

/** The keys that came in query parameters, kept apart from everything that is printed or logged. */
const keysOfRequests = new WeakMap<IncomingMessage, string>()

/**
 * The key that a request brought as the query parameter `apikey`; null without one. Several are joined, and so no key.
 */
export function queryKeyOf(request: IncomingMessage): string | null {
  return keysOfRequests.get(request) ?? null
}

/** A path of ours and nothing else: nothing is to be taken out of it or escaped. */
const PLAIN = /^\/[A-Za-z0-9/_.-]*$/

/**
 * URL sanitizer, run on a request before anything else sees it: the key is taken out of its URL, so that no log line,
 * error, redirect or metric can hold it, and a path that cannot be decoded is escaped, so that it is an unknown path
 * like any other. For Fastify's `rewriteUrl`.
 * @returns the URL to route by
 */
export function sanitizeUrl(request: IncomingMessage & { originalUrl?: string }): string {
  if (PLAIN.test(request.url ?? '')) {
    request.originalUrl = request.url!
    return request.url!
  }
  const { url, key } = takeKey(pathOf(request.url ?? '/'))
  if (key !== null) keysOfRequests.set(request, key)
  // Fastify keeps the URL as it came under this name.
  request.originalUrl = url
  request.url = url
  return url
}

/** Path and query of a request target, which may also be a whole URL (by way of a proxy) or `*`. */
function pathOf(target: string): string {
  const path =
    /^https?:\/\/[^/?#]*/i.exec(target) === null ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

function takeKey(target: string): { readonly url: string; readonly key: string | null } {
  const at = target.search(/[?#]/)
  const path = routable(at < 0 ? target : target.slice(0, at))
  if (at < 0) return { url: path, key: null }

  const kept: string[] = []
  const keys: string[] = []
  for (const part of target.slice(at + 1).split('&')) {
    const [name, value] = splitParameter(part)
    // Another spelling is no key, but most likely holds one.
    if (name.toLowerCase() !== 'apikey') kept.push(part)
    else if (name === 'apikey') keys.push(value)
  }
  const query = kept.join('&')
  return { url: query === '' ? path : `${path}?${query}`, key: keys.length === 0 ? null : keys.join(',') }
}

function splitParameter(part: string): [name: string, value: string] {
  const at = part.indexOf('=')
  return at < 0 ? [decoded(part), ''] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function routable(path: string): string {
  try {
    decodeURIComponent(path)
    return path
  } catch {
    return path.replaceAll('%', '%25')
  }
}

/** A segment longer than any of ours is not shown: it may be a key that somebody put into the path. */
const MAX_SEGMENT = 40

/**
 * The part of an unknown path that may be shown and logged: up to the first other character, anything that reads like
 * a key parameter, or a segment as long as a key. What was cut is shown as `...`.
 */
export function shownPath(url: string): string {
  const path = url.split('?', 1)[0]!.slice(0, 200)
  const plain = /^[A-Za-z0-9/_.-]*/.exec(path)![0].split(/api-?key/i, 1)[0]!
  const segments = plain.split('/')
  const long = segments.findIndex((segment) => segment.length > MAX_SEGMENT)
  const shown = long < 0 ? plain : segments.slice(0, long).join('/')
  return shown.length < path.length ? `${shown}...` : shown
}
