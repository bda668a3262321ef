import assert from 'node:assert/strict'
import test from 'node:test'
import type { LightMyRequestResponse as Response } from 'fastify'
import { aliasName } from '../../src/http/openapi/aliases.ts'
import { ROUTES } from '../../src/http/routes/index.ts'
import { findMismatches } from './schema-check.ts'
import { get, jsonHeaders, post, READ_KEY, seed, testService } from './service.ts'

const { app } = testService({ server: { bodyLimitBytes: 100_000 } })
test.before(() => seed(app))
test.beforeEach(() => seedAlias())

// biome-ignore lint/suspicious/noExplicitAny: a document of which every part is checked here
type Json = Record<string, any>
const document: Json = JSON.parse((await get(app, '/openapi.json', {})).text)
const schemas = document.components.schemas as Record<string, Json>

/** Every operation with where it is. */
function operations(): { path: string; method: string; operation: Json }[] {
  return Object.entries(document.paths as Json).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) => ({
      path,
      method,
      operation: operation as Json,
    })),
  )
}

/** The alias that the examples name. */
async function seedAlias(): Promise<void> {
  const url = urlOf('/historian/aliases/{name}', { parameters: [aliasName] })
  const payload = { tag: 'local/FLOW' }
  const { statusCode } = await app.inject({ method: 'PUT', url, headers: jsonHeaders(), payload })
  assert.ok([200, 201].includes(statusCode))
}

/** A path with the examples of what stands in it. */
function urlOf(path: string, { parameters }: Json): string {
  return path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(parameters.find((parameter: Json) => parameter.name === name).example),
  )
}

function contentOf(operation: Json, status: string | number): Json | undefined {
  return operation.responses[status]?.content?.['application/json']
}

/** Whether an answer of an endpoint is as the document says. */
function assertAsDocumented(operation: Json, status: number, body: unknown): void {
  const content = contentOf(operation, status)
  assert.ok(content, `${operation.operationId} does not document ${status}`)
  assert.deepEqual(findMismatches(body, content.schema, schemas), [], `${operation.operationId} ${status}`)
}

test('the document has the shape of OpenAPI 3.1', () => {
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(Object.keys(document.info).sort(), ['description', 'license', 'title', 'version'])
  assert.deepEqual(Object.keys(document.components.securitySchemes), ['header', 'query'])
  const groups = document.tags.map((tag: Json) => tag.name)
  const ids = new Set<string>()
  for (const { path, operation } of operations()) {
    assert.match(path, /^\//)
    assert.match(operation.operationId, /^[a-z][A-Za-z]*$/)
    assert.equal(ids.has(operation.operationId), false)
    ids.add(operation.operationId)
    assert.ok(operation.summary.length > 0 && operation.description.length > 0)
    assert.ok(operation.tags.every((tag: string) => groups.includes(tag)))
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
      assert.ok(
        operation.parameters.some((parameter: Json) => parameter.name === name),
        `${path} describes ${name}`,
      )
    }
    for (const [status, response] of Object.entries(operation.responses as Json)) {
      assert.match(status, /^[2345]\d\d$/)
      assert.ok(response.description.length > 0)
    }
    for (const parameter of operation.parameters ?? []) {
      const place = path.includes(`{${parameter.name}}`) ? 'path' : 'query'
      assert.deepEqual(
        [parameter.in, typeof parameter.required, typeof parameter.name, typeof parameter.schema],
        [place, 'boolean', 'string', 'object'],
      )
      assert.ok(parameter.required || place === 'query')
    }
  }
})

test('every reference in the document leads somewhere, and every shared schema is used', () => {
  const used = new Set(
    Array.from(JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g), ([, name]) => name!),
  )
  assert.deepEqual([...used].sort(), Object.keys(schemas).sort())
})

test('each endpoint is in the document, and each in the document is an endpoint', async () => {
  const documented = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`)
  assert.deepEqual(documented.sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort())
  for (const { path, method, operation } of operations()) {
    const response = await app.inject({
      method: method as 'get',
      url: urlOf(path, operation),
      headers: jsonHeaders(),
      payload: '{',
    })
    // An endpoint may itself say that what its path names does not exist.
    const { statusCode: status, body } = response
    const isUnknown = status === 405 || (status === 404 && body.includes('PATH_NOT_FOUND'))
    assert.ok(!isUnknown, `${method} ${path}`)
  }
})

test('nothing is served beside what is documented, the pages of the reference and the explorer', () => {
  const paths: string[] = []
  const above: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const at = line.indexOf('── ')
    if (at < 0) continue
    const depth = (at - 1) / 4
    const [, part, methods] = /── (\S+)( \(.*)?$/.exec(line)!
    above[depth] = (above[depth - 1] ?? '') + part
    if (methods !== undefined) paths.push(above[depth])
  }
  // For clients that were written for them; docs/http.md says so.
  const others = ['//historian/list', ...ROUTES.flatMap(({ otherPaths = [] }) => otherPaths)]
  const documented = [...ROUTES.map(({ path }) => path.replace(/\/\{\w+\}$/, '*')), ...others]
  assert.deepEqual(
    documented.filter((path) => !paths.includes(path)),
    [],
  )
  assert.deepEqual(
    paths.filter((path) => !documented.includes(path) && !/^\/docs(?:[/*]|$)/.test(path)),
    // The list shows a wildcard without what stands before it: this one is of the explorer's files.
    ['/*'],
  )
  assert.ok(app.hasRoute({ method: 'GET', url: '/explorer/*' }))
  assert.ok(!app.hasRoute({ method: 'GET', url: '/*' }))
})

for (const { path, method, operation } of operations()) {
  const examples = Object.entries(operation.requestBody?.content['application/json'].examples ?? {}) as [
    string,
    Json,
  ][]
  for (const [name, { value }] of examples) {
    test(`${path}: the example ${name} is as its schema says, is accepted, and so is its answer`, async () => {
      const schema = operation.requestBody.content['application/json'].schema
      assert.deepEqual(findMismatches(value, schema, schemas), [])
      const response = await app.inject({
        method: method as 'post',
        url: urlOf(path, operation),
        headers: jsonHeaders(),
        payload: value,
      })
      const body = response.json()
      assert.ok([200, 201].includes(response.statusCode), response.body)
      assert.equal(body.warnings, undefined, response.body)
      if (body.errors !== undefined) assert.deepEqual(Object.values(body.errors), [])
      assertAsDocumented(operation, response.statusCode, body)
    })
  }

  test(`${path}: the example answers are as their schemas say`, () => {
    for (const [status, response] of Object.entries(operation.responses as Json)) {
      const content = (response as Json).content?.['application/json']
      for (const { value } of Object.values((content?.examples ?? {}) as Json)) {
        assert.deepEqual(findMismatches(value, content.schema, schemas), [], `${status}`)
      }
    }
  })

  if (method === 'post' || method === 'put') {
    test(`${path}: what goes wrong is answered as the document says`, async () => {
      for (const [status, payload, headers] of [
        [400, '{', jsonHeaders()],
        [400, '{}', jsonHeaders()],
        [400, '[]', jsonHeaders()],
        [401, '{}', jsonHeaders('wrong')],
        [413, ' '.repeat(100_001), jsonHeaders()],
        [415, '{}', { ...jsonHeaders(), 'content-type': 'text/plain' }],
        ...(operation.responses[403] ? ([[403, '{}', jsonHeaders(READ_KEY)]] as const) : []),
      ] as const) {
        const url = urlOf(path, operation)
        const response: Response = await app.inject({ method: method as 'post', url, headers, payload })
        assert.equal(response.statusCode, status)
        assertAsDocumented(operation, status, response.json())
      }
    })
  } else if (contentOf(operation, 200) !== undefined) {
    test(`${path}: its answer is as the document says`, async () => {
      const query = new URLSearchParams()
      for (const { name, example } of operation.parameters ?? [])
        if (example !== undefined && !path.includes(`{${name}}`)) query.set(name, String(example))
      const { status, text } = await get(app, `${urlOf(path, operation)}?${query}`)
      assert.equal(status, 200)
      // The document describes itself by its main fields only.
      if (path !== '/openapi.json') assertAsDocumented(operation, 200, JSON.parse(text))
    })
  }
}

test('intervals and gaps are as the document says, also where there are none', async () => {
  const { operation } = operations().find(({ path }) => path === '/historian/multi')!
  const details = { from: '2026-01-15T10:00Z', to: '2026-01-15T11:00Z' }
  const gaps = { type: 'GAPS', tag: 'constants/0', details: { ...details, longerThan: '1s' } }
  const requests = {
    one: { type: 'INTERVALS', tag: 'constants/1', details },
    none: { type: 'INTERVALS', tag: 'constants/0', details },
    gap: { ...gaps, tag: 'local/FLOW' },
    noGap: gaps,
  }
  for (const format of ['points', 'columns']) {
    const { status, body } = await post(app, '/historian/multi', { format, requests })
    assert.deepEqual(Object.keys(body.results), Object.keys(requests))
    assertAsDocumented(operation, status, body)
  }
})

test('answers with errors under labels, entries and in arrays are as the document says', async () => {
  const byPath = new Map(operations().map(({ path, operation }) => [path, operation]))
  const point = { timestamp: 'soonish', value: 'x', status: 'FINE', more: 1 }
  const cases: [path: string, status: number, body: object][] = [
    ['/historian/multi', 200, { requests: { a: { type: 'NOPE', tag: 'local/FLOW' }, b: {} }, more: 1 }],
    [
      '/historian/multi',
      400,
      {
        requests: {
          a: { type: 'RAW_POINTS', tag: 'local/FLOW', details: { from: 0, to: 'now', maxPoints: 1e9 } },
        },
      },
    ],
    [
      '/historian/multi',
      200,
      { explain: true, requests: { a: { type: 'CURRENT_POINT', tag: 'local/NONE' } } },
    ],
    ['/historian/write/points', 400, { points: { 'local/FLOW': [point], 'nowhere/a': [], bad: [] } }],
    ['/historian/write/points', 200, { points: { 'local/FLOW': [{ timestamp: 0, value: 1, more: 1 }] } }],
    [
      '/historian/metadata/create',
      200,
      { entries: { 'plant/x': {}, 'local/x': { units: 5, more: 1 }, 'local/y': {} } },
    ],
    ['/historian/metadata/get', 200, { tags: ['local/FLOW', 'local/NONE', 'bad'] }],
    ['/historian/delete/points', 400, { ranges: { 'local/NONE': [{}] } }],
    ['/historian/metadata/delete', 400, { tags: ['local/NONE'] }],
    ['/historian/metadata/rename', 400, { renames: { 'local/NONE': 'lab/x' } }],
  ]
  for (const [path, status, sent] of cases) {
    const { status: actual, body } = await post(app, path, sent)
    assert.equal(actual, status, `${path} ${JSON.stringify(body)}`)
    assertAsDocumented(byPath.get(path)!, status, body)
  }
  const search = await get(app, '/historian/search?historian=nowhere')
  assertAsDocumented(byPath.get('/historian/search')!, 404, JSON.parse(search.text))
})
