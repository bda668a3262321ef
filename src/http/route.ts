import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LimitSettings } from '../config/settings.ts'
import type { ErrorCode } from '../errors/codes.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { JsonRules } from '../json/rules.ts'
import type { ErrorsShape } from './error-answer.ts'
import type { Operation } from './openapi/types.ts'
import type { Parts } from './services.ts'

/** One endpoint: where it is, who may call it, what the reference says of it, and what it does. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Without the base path and without a trailing slash; works with one too. May end with `{name}`, of any text. */
  readonly path: string
  readonly access: Access
  /** Other paths at which it answers in the same way, for clients that were written for them; not in the reference. */
  readonly otherPaths?: readonly string[]
  /** Whether it answers without the base path, too: probes and metrics, which are asked beside the proxy. */
  readonly isProbe?: true
  /** What `errors` is in its error bodies: an object on metadata and multi, an array elsewhere. */
  readonly errors: ErrorsShape
  readonly operation: Operation
  /** Whether its handler is given the JSON body as the bytes that it is, and parses it (plugins/json-bodies.ts). */
  readonly takesBytes?: true
  /**
   * The field of its body whose members the caller names, and the limit of their number: checked while the body is
   * read.
   */
  readonly counted?: { readonly field: string; readonly limit: keyof LimitSettings; readonly code: ErrorCode }
  /** Makes what answers a request; called once, when the server is made. */
  readonly handler: (parts: Parts) => Handler
}

/**
 * - `open`: no key is asked for;
 * - `metrics`: a key if the configuration says so;
 * - `read`: any key;
 * - `write`: a key of scope write.
 */
export type Access = 'open' | 'metrics' | 'read' | 'write'

/**
 * Gives what Fastify sends, at once or in a promise; errors that it throws become the general error body
 * (plugins/errors.ts).
 */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => MaybePromise<unknown>

/** What a route tells the plugins about itself, in Fastify's own `config`. */
declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    errors?: ErrorsShape
    /** Whether it answers /historian calls: counted among the calls in work, and bound by their limits. */
    isCall?: boolean
    takesJson?: boolean
    /** Whether the handler wants the body unparsed. */
    takesBytes?: boolean
    bodyLimitBytes?: number
    /** What its body may hold. */
    rules?: JsonRules
  }
}
