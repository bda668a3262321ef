import type { ErrorEntry } from '../error-entry.ts'

/** Of keys, paths, and bodies that are not taken. */
export const ACCESS_ERRORS = {
  KEY_MISSING: {
    kind: 'unauthorized',
    text: 'An API key is needed: send it as the header X-Api-Key or the query parameter apikey',
    fix: 'Make a key with tidemark keys create.',
  },
  KEY_INVALID: {
    kind: 'unauthorized',
    text: 'The API key is not known, has expired or was revoked',
    fix: 'Make a key with tidemark keys create.',
  },
  KEY_READ_ONLY: {
    kind: 'forbidden',
    text: 'This API key may only read: {operation} needs a key of scope write',
    fix: 'Use a key of scope write.',
  },
  ALIAS_NOT_CHANGEABLE: {
    kind: 'forbidden',
    text: 'Alias {name} cannot be changed with this API key',
    fix: 'Choose another name, or use a key that sees what the alias refers to.',
  },
  PATH_NOT_FOUND: { kind: 'not-found', text: 'There is nothing at {path}', fix: 'See /openapi.json.' },
  METHOD_NOT_ALLOWED: {
    kind: 'method',
    text: '{method} is not allowed at {path}: {allowed} is expected',
    fix: 'Use the method that the Allow header names.',
  },
  MEDIA_TYPE: {
    kind: 'media-type',
    text: 'Content-Type {input} is not understood: application/json is expected',
    fix: 'Send the header Content-Type: application/json.',
  },
  CONTENT_ENCODING: {
    kind: 'media-type',
    text: 'Content-Encoding {input} is not understood: gzip, deflate or identity is expected',
    fix: 'Send the body plain or gzip-encoded.',
  },
  TRANSFER_CODING: {
    kind: 'not-implemented',
    text: 'Transfer-Encoding {input} is not understood: chunked, or a Content-Length, is expected',
    fix: 'Send the body as it is; compress it with Content-Encoding.',
  },
  BODY_TOO_LARGE: {
    kind: 'too-large',
    text: 'The body is larger than {limit} bytes',
    fix: 'Send smaller requests, or raise server.bodyLimitBytes, or server.writeBodyLimitBytes for write/points.',
  },
  BODY_SILENT: {
    kind: 'silent',
    text: 'The body is not whole, and nothing more of it came for {seconds} s',
    fix: 'Send the body without pauses, or raise server.silenceSeconds.',
  },
  OVERLOADED: {
    kind: 'overloaded',
    text: 'Too much is in work already: {reason}; try again in {seconds} s',
    fix: 'Wait as Retry-After says (docs/overload.md), or raise server.maxConcurrentCalls, server.maxBytesInWork or server.callerSharePercent.',
  },
  RATE_LIMITED: {
    kind: 'rate',
    text: 'More than {limit} calls a second came of one key, or of one address without a valid key: try again in {seconds} s',
    fix: 'Wait as Retry-After says (docs/overload.md), ask for more in one call, or raise server.callsPerSecond.',
  },
} as const satisfies Record<string, ErrorEntry>
