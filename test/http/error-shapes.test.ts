import assert from 'node:assert/strict'
import test from 'node:test'
import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify'
import { ERRORS } from '../../src/errors/codes.ts'
import { ROUTES } from '../../src/http/routes/index.ts'
import { get, jsonHeaders, seed, testService } from './service.ts'

/**
 * Every endpoint of the served document without a key, with a body that is none, and with a name that does not exist:
 * what a client looks into must have the same shape on every endpoint of a kind.
 */

const { app } = testService()
test.before(() => seed(app))

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
type Json = any

interface Endpoint {
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly needsKey: boolean
  readonly takesBody: boolean
}

const paths: Json = JSON.parse((await get(app, '/openapi.json', {})).text).paths
const ENDPOINTS: readonly Endpoint[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods as Json).map(([method, operation]: [string, Json]) => ({
    path,
    method: method.toUpperCase() as Endpoint['method'],
    needsKey: operation.responses[401] !== undefined && path.startsWith('/historian'),
    takesBody: operation.requestBody !== undefined,
  })),
)

/** `errors` of each kind of endpoint when the request as a whole is refused. */
type Shape = 'array' | 'labels' | 'entries'
const METADATA = ['/historian/metadata/get', '/historian/metadata/create', '/historian/metadata/update']
const shapeOf = (path: string): Shape =>
  path === '/historian/multi' ? 'labels' : METADATA.includes(path) ? 'entries' : 'array'

function send(
  service: FastifyInstance,
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
  options: { readonly headers?: Record<string, string>; readonly body?: string; readonly name?: string } = {},
): Promise<Response> {
  const url = path.replace(/\{\w+\}/g, options.name ?? 'level')
  const { headers = {}, body } = options
  return service.inject({ method, url, headers, ...(body !== undefined && { payload: body }) })
}

/** A refusal of the whole request: its sentence in `message` and where its kind has it, its code in `issues`. */
function assertRefusal(response: Response, shape: Shape, code: string, where: string): void {
  const { message, errors, issues }: Json = response.json()
  assert.equal(typeof message, 'string', where)
  assert.notEqual(message, '', where)
  const expected = { array: [message], labels: {}, entries: { '*': message } }[shape]
  assert.deepEqual(errors, expected, where)
  assert.equal(issues.length, 1, where)
  assert.deepEqual([issues[0].code, issues[0].message], [code, message], where)
}

test('the document has endpoints of each kind', () => {
  assert.ok(ENDPOINTS.length >= 20)
  for (const shape of ['array', 'labels', 'entries'])
    assert.ok(ENDPOINTS.some(({ path, needsKey }) => needsKey && shapeOf(path) === shape))
  const served = ROUTES.filter(({ access }) => access === 'read' || access === 'write')
  const named = ENDPOINTS.filter(({ needsKey }) => needsKey)
  assert.deepEqual(
    named.map(({ method, path }) => `${method} ${path}`).sort(),
    served.map(({ method, path }) => `${method} ${path}`).sort(),
  )
})

for (const endpoint of ENDPOINTS) {
  const { method, path, needsKey, takesBody } = endpoint
  const name = `${method} ${path}`
  const shape = shapeOf(path)

  if (needsKey) {
    test(`${name} without a key, or with an unknown one, is 401 with its code`, async () => {
      const body = takesBody ? { body: '{}' } : {}
      const type = { 'content-type': 'application/json' }
      for (const headers of [type, { ...type, 'x-api-key': 'tdm_unknown' }]) {
        const response = await send(app, endpoint, { headers, ...body })
        assert.equal(response.statusCode, 401, name)
        assert.ok(response.headers['www-authenticate'], name)
        const [{ code }]: Json = response.json().issues
        assert.equal(ERRORS[code as keyof typeof ERRORS].kind, 'unauthorized')
        assertRefusal(response, shape, code, name)
      }
    })
  } else {
    test(`${name} answers without a key`, async () => {
      const { statusCode } = await send(app, endpoint)
      assert.ok([200, 302].includes(statusCode), `${statusCode}`)
    })
  }

  if (takesBody) {
    test(`${name} with a body that is none is 400 with its code`, async () => {
      for (const body of [
        '{',
        '',
        'null',
        '[]',
        '"text"',
        '{"requests":5,"points":5,"entries":5,"tags":5}',
      ]) {
        const response = await send(app, endpoint, { headers: jsonHeaders(), body })
        assert.equal(response.statusCode, 400, `${name} ${body} ${response.body}`)
        const [{ code }]: Json = response.json().issues
        assert.ok(Object.hasOwn(ERRORS, code), code)
        assertRefusal(response, shape, code, `${name} ${body}`)
      }
    })
  }
}

/** A name that does not exist in each endpoint that takes one: the sentence stands where its kind has it. */
const UNKNOWN: readonly (readonly [
  name: string,
  status: number,
  body: object | null,
  keys: readonly string[],
])[] = [
  ['POST /historian/multi', 200, { requests: { a: { type: 'CURRENT_POINT', tag: 'local/NONE' } } }, ['a']],
  ['POST /historian/metadata/get', 200, { tags: ['local/NONE'] }, ['local/NONE']],
  ['POST /historian/metadata/create', 200, { entries: { 'nowhere/a': {} } }, ['nowhere/a']],
  ['POST /historian/metadata/update', 200, { entries: { 'local/NONE': {} } }, ['local/NONE']],
  ['POST /historian/write/points', 400, { points: { 'local/NONE': [] } }, ['0']],
  ['POST /historian/delete/points', 400, { ranges: { 'local/NONE': [{ from: 0, to: 1 }] } }, ['0']],
  ['POST /historian/metadata/delete', 400, { tags: ['local/NONE'] }, ['0']],
  ['POST /historian/metadata/rename', 400, { renames: { 'local/NONE': 'local/OTHER' } }, ['0']],
  ['GET /historian/aliases/{name}', 404, null, ['0']],
  ['DELETE /historian/aliases/{name}', 404, null, ['0']],
  ['GET /historian/search', 404, null, ['0']],
  ['GET /historian/browse', 404, null, ['0']],
]

for (const [name, status, body, keys] of UNKNOWN) {
  test(`${name}: a name that does not exist is said with its code, in the shape of its kind`, async () => {
    const [method, path] = name.split(' ') as [Endpoint['method'], string]
    const query = body === null && !path.includes('{') ? '?historian=nowhere' : ''
    const response = await send(
      app,
      { method, path: `${path}${query}` },
      {
        headers: jsonHeaders(),
        name: 'none-of-that-name',
        ...(body !== null && { body: JSON.stringify(body) }),
      },
    )
    assert.equal(response.statusCode, status, response.body)
    const { errors, issues }: Json = response.json()
    assert.equal(Array.isArray(errors), shapeOf(path) === 'array')
    assert.deepEqual(Object.keys(errors), keys)
    assert.equal(issues.length, 1)
    const [{ code, message }] = issues
    assert.equal(ERRORS[code as keyof typeof ERRORS].kind, 'not-found', code)
    assert.equal(errors[keys[0]!], message)
  })
}

test('every endpoint that looks up a name is among them', () => {
  // An alias may be put before what it refers to; it is stored with a warning.
  const named = ENDPOINTS.filter(
    ({ method, path, takesBody }) =>
      method !== 'PUT' && (takesBody || path.includes('{') || /search|browse/.test(path)),
  )
  assert.deepEqual(
    UNKNOWN.map(([name]) => name).sort(),
    named.map(({ method, path }) => `${method} ${path}`).sort(),
  )
})
