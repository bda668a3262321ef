import { isDeepStrictEqual } from 'node:util'
import type { Route } from '../route.ts'
import { SCHEMAS } from './schemas.ts'
import {
  type Answer,
  type Content,
  type Group,
  type Operation,
  type Parameter,
  type Schema,
  shared,
} from './types.ts'

const GROUPS: { readonly [Name in Group]: string } = {
  Historians: 'What data sources there are.',
  Tags: 'Finding tags, and their metadata.',
  Aliases: 'Tags and calculations under a name.',
  Points: 'Writing and reading points.',
  Corrections: 'Removing and renaming what was written.',
  Service:
    'Health, metrics and this reference. None of them shows tags, values or historian names without a key.',
}

const DESCRIPTION = `
One interface in front of all the time-series historians of a plant: lists, metadata, writes, and any set of reads in one
call.

Everything under \`/historian\` needs an API key, in the header \`X-Api-Key\` or the query parameter \`apikey\`. Bodies are
UTF-8 JSON, may be sent with \`Content-Encoding: gzip\` or \`deflate\`, and types are never coerced; unknown fields are ignored
with a sentence in \`warnings\`. Every answer carries \`X-Request-Id\`.
`.trim()

const ERROR_WORDS: { readonly [status: string]: string } = {
  400: 'The request is wrong; nothing was done.',
  401: 'The API key is missing, unknown, expired or revoked.',
  403: 'The API key may only read.',
  404: 'What was asked for does not exist.',
  413: 'The body is larger than `server.bodyLimitBytes` (write/points: `server.writeBodyLimitBytes`), compressed or not.',
  415: 'The body is not declared as JSON, or its Content-Encoding is not known.',
  429: 'More calls than `server.callsPerSecond` came of this key, or of this address without a valid one.',
  500: 'Something that should hold does not; the log has the request id.',
  503: 'Too much is in work already (with `Retry-After`), or a historian could not be reached.',
  504: 'The deadline passed.',
}

/** The OpenAPI 3.1 document of these routes, as plain data. */
export function openApiDocument(routes: readonly Route[], version: string, basePath: string): object {
  const paths: Record<string, Record<string, object>> = {}
  const schemas: Schemas = { ...SCHEMAS }
  for (const route of routes) {
    const operation = operationObject(route, schemas)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ...(basePath !== '' && { servers: [{ url: basePath }] }),
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    security: [{ header: [] }, { query: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'Wins when both are sent.' },
        query: {
          type: 'apiKey',
          in: 'query',
          name: 'apikey',
          description: 'For clients that cannot send headers.',
        },
      },
    },
  }
}

/** Schemas by name; those of bodies are added as operations are written. */
type Schemas = Record<string, Schema>

function operationObject(route: Route, schemas: Schemas): object {
  const { operation } = route
  Object.assign(schemas, operation.schemas)
  const name = operation.id[0]!.toUpperCase() + operation.id.slice(1)
  return {
    operationId: operation.id,
    tags: [operation.group],
    summary: operation.summary,
    description: operation.description,
    ...(operation.parameters && {
      parameters: operation.parameters.map((parameter) => parameterObject(parameter, route.path)),
    }),
    ...(operation.request && {
      requestBody: {
        required: true,
        content: { 'application/json': contentObject(operation.request, `${name}Request`, schemas) },
      },
    }),
    responses: responses(route, operation, name, schemas),
    ...((route.access === 'open' || route.access === 'metrics') && {
      security: [{}, { header: [] }, { query: [] }],
    }),
  }
}

/** Parameters named in the path stand there, the others in the query. */
function parameterObject(parameter: Parameter, path: string): object {
  const isInPath = path.includes(`{${parameter.name}}`)
  return { in: isInPath ? 'path' : 'query', required: isInPath, ...parameter }
}

function responses(route: Route, operation: Operation, name: string, schemas: Schemas): object {
  const all: Record<string, object> = {}
  for (const [status, answer] of Object.entries(operation.answers)) {
    all[status] = answerObject(answer, `${name}Answer${status === '200' ? '' : status}`, schemas)
  }
  for (const status of errorStatuses(route, operation)) all[status] ??= errorObject(status, route)
  return all
}

function errorStatuses({ access, method }: Route, { errors = [] }: Operation): readonly number[] {
  const statuses: number[] = [...errors]
  if (access !== 'open') statuses.push(401, 429)
  if (access === 'read' || access === 'write') statuses.push(503)
  if (access === 'write') statuses.push(403)
  if (method === 'POST' || method === 'PUT') statuses.push(400, 413, 415)
  return statuses
}

function errorObject(status: number, route: Route): object {
  const name = route.errors === 'array' ? 'Error' : 'ErrorByKey'
  return {
    description: ERROR_WORDS[status],
    ...(status === 401 && { headers: headersObject({ 'WWW-Authenticate': 'How to send a key.' }) }),
    ...((status === 503 || status === 429) && {
      headers: headersObject({ 'Retry-After': 'Seconds to wait.' }),
    }),
    content: { 'application/json': { schema: shared(name) } },
  }
}

function answerObject(
  { description, content, mediaType, headers }: Answer,
  name: string,
  schemas: Schemas,
): object {
  return {
    description,
    ...(headers && { headers: headersObject(headers) }),
    ...(content && { content: { 'application/json': contentObject(content, name, schemas) } }),
    ...(mediaType && { content: { [mediaType]: { schema: { type: 'string' } satisfies Schema } } }),
  }
}

/** A body whose schema has a name, so that generated clients have a type for it. */
function contentObject({ schema, examples }: Content, name: string, schemas: Schemas): object {
  const entries = Object.entries(examples).map(([title, value]) => [title, { value }] as const)
  return { schema: named(schema, name, schemas), examples: Object.fromEntries(entries) }
}

/** A reference to a schema under its name; one that is a reference already stays as it is. */
function named(schema: Schema, name: string, schemas: Schemas): Schema {
  if ('$ref' in schema) return schema
  if (schemas[name] !== undefined && !isDeepStrictEqual(schemas[name], schema))
    throw new Error(`Two schemas are called ${name}`)
  schemas[name] = schema
  return shared(name)
}

function headersObject(headers: { readonly [name: string]: string }): object {
  const entries = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return Object.fromEntries(entries)
}
