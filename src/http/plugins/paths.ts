import type { FastifyInstance, FastifyRequest } from 'fastify'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { ErrorsShape } from '../error-answer.ts'
import { shownPath } from '../url-sanitizer.ts'

/** What is registered at a path. */
interface KnownPath {
  readonly methods: Set<string>
  errors: ErrorsShape
}

/** All registered paths, to tell an unknown path from a known one with the wrong method. */
export class Paths {
  readonly #known = new Map<string, KnownPath>()

  /** Collects the paths of everything registered after this. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method, config }) => {
      const path = this.#known.getOrInsertComputed(trimmed(url), () => ({
        methods: new Set(),
        errors: 'array',
      }))
      for (const name of [method].flat()) path.methods.add(name)
      if (config?.errors !== undefined) path.errors = config.errors
    })
  }

  /** The methods of the path of a request, null when there is nothing at it. */
  methodsAt(request: FastifyRequest): string[] | null {
    const known = this.#find(request)
    return known === undefined ? null : [...known.methods].sort()
  }

  /** The type of `errors` in the error bodies of a request's path. */
  errorsAt(request: FastifyRequest): ErrorsShape {
    return this.#find(request)?.errors ?? 'array'
  }

  #find(request: FastifyRequest): KnownPath | undefined {
    const path = trimmed(decodeURI(request.url.split(/[?#]/, 1)[0]!))
    return this.#known.get(path) ?? this.#findWildcard(path)
  }

  /** Paths that end with a name of any text. */
  #findWildcard(path: string): KnownPath | undefined {
    for (const [known, found] of this.#known) {
      if (known.endsWith('/*') && path.startsWith(known.slice(0, -1))) return found
    }
    return undefined
  }
}

/** Answers requests that no route takes, before their body is looked at: 404, or 405 with what is allowed. */
export function addUnknownPaths(app: FastifyInstance, paths: Paths): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const path = shownPath(request.url)
    const methods = paths.methodsAt(request)
    if (methods === null) throw new TidemarkError('PATH_NOT_FOUND', { path })
    const allowed = methods.join(', ')
    reply.header('allow', allowed)
    throw new TidemarkError('METHOD_NOT_ALLOWED', { method: request.method, path, allowed })
  })
  // Only a file of the reference page that does not exist gets this far.
  app.setNotFoundHandler(async (request) => {
    throw new TidemarkError('PATH_NOT_FOUND', { path: shownPath(request.url) })
  })
}

function trimmed(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
