// Interface, section 1 (HTTP), at the default base path; base-path.test.ts has what needs other settings.
import assert from 'node:assert/strict'
import test from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { until } from '../until.ts'
import { conformance, type Json } from './service.ts'

const { get, post, send, multi, write, service } = await conformance()
const JSON_TYPE = { 'Content-Type': 'application/json' }

await write({ 'local/A': [['2026-01-01T00:00:00Z', 1]] })

const GETS = ['/historian/list', '/historian/listwritable', '/historian/search']
const POSTS = [
  '/historian/metadata/create',
  '/historian/metadata/update',
  '/historian/metadata/get',
  '/historian/metadata/delete',
  '/historian/metadata/rename',
  '/historian/write/points',
  '/historian/delete/points',
  '/historian/multi',
]
const OBJECT_ERRORS = [
  '/historian/metadata/create',
  '/historian/metadata/update',
  '/historian/metadata/get',
  '/historian/multi',
]

for (const path of GETS) {
  test(`Paths work with and without a trailing slash: ${path}`, async () => {
    const [plain, slash] = [await get(path), await get(`${path}/`)]
    assert.equal(plain.status, 200)
    assert.equal(slash.status, 200)
    assert.deepEqual(plain.body, slash.body)
  })
  test(`Known path, wrong method: 405 with Allow: ${path}`, async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await send(method, path, method === 'DELETE' ? undefined : '{}', { headers: JSON_TYPE })
      assert.equal(answer.status, 405, method)
      assert.match(answer.headers.get('allow') ?? '', /\bGET\b/)
      assert.equal(typeof answer.body.message, 'string')
      assert.ok(Array.isArray(answer.body.errors))
    }
  })
}

for (const path of POSTS) {
  test(`Paths work with and without a trailing slash: ${path}`, async () => {
    const [plain, slash] = [await post(path, {}), await post(`${path}/`, {})]
    assert.notEqual(plain.status, 404)
    assert.equal(plain.status, slash.status)
    assert.deepEqual(plain.body.errors, slash.body.errors)
    assert.equal(plain.body.message, slash.body.message)
  })
  test(`Known path, wrong method: 405 with Allow: ${path}`, async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await send(method, path, undefined)
      assert.equal(answer.status, 405, method)
      assert.match(answer.headers.get('allow') ?? '', /\bPOST\b/)
    }
  })
  test(`Content-Type other than JSON, or none, on a JSON endpoint: 415: ${path}`, async () => {
    for (const headers of [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    ]) {
      const answer = await send('POST', path, '{}', { headers })
      assert.equal(answer.status, 415)
      assert.equal(typeof answer.body.message, 'string')
      assert.equal(Array.isArray(answer.body.errors), !OBJECT_ERRORS.includes(path))
    }
    // fetch adds no type of its own to bytes
    assert.equal((await send('POST', path, new TextEncoder().encode('{}'))).status, 415)
  })
  test(`Malformed JSON: 400, errors of the endpoint's own shape: ${path}`, async () => {
    for (const body of ['{', '', '{"a":1,}', 'nonsense', '\u0000', '{"a":NaN}', '[1,2']) {
      const answer = await send('POST', path, body, { headers: JSON_TYPE })
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.ok(answer.body.message.length > 10)
      if (path === '/historian/multi') assert.deepEqual(answer.body.errors, {})
      else if (OBJECT_ERRORS.includes(path))
        assert.deepEqual(answer.body.errors, { '*': answer.body.message })
      else assert.ok(Array.isArray(answer.body.errors))
    }
  })
  test(`JSON that is no object is refused with 400: ${path}`, async () => {
    for (const body of ['[]', 'null', '1', '"text"', 'true']) {
      const answer = await send('POST', path, body, { headers: JSON_TYPE })
      assert.equal(answer.status, 400, body)
      assert.equal(Array.isArray(answer.body.errors), !OBJECT_ERRORS.includes(path))
    }
  })
  test(`Bytes that are no UTF-8 are refused or replaced, never a 500: ${path}`, async () => {
    const answer = await send(
      'POST',
      path,
      new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      {
        headers: JSON_TYPE,
      },
    )
    assert.ok(answer.status === 400 || answer.status === 200, String(answer.status))
  })
}

test('JSON types with a charset or a +json suffix are JSON', async () => {
  for (const type of [
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
  ]) {
    const answer = await send('POST', '/historian/multi', '{"requests":{}}', {
      headers: { 'Content-Type': type },
    })
    assert.equal(answer.status, 200, type)
  }
})

test('Unknown path: 404 (401 without a key)', async () => {
  for (const path of ['/historian/nothing', '/historian/', '/historian', '/historian/multi/x']) {
    const known = await get(path)
    assert.equal(known.status, 404, path)
    assert.equal(typeof known.body.message, 'string')
    assert.ok(Array.isArray(known.body.errors))
    const unknown = await get(path, { key: null })
    assert.equal(unknown.status, 401, path)
  }
  assert.ok([401, 404].includes((await get('/elsewhere', { key: null })).status))
  assert.equal((await get('/elsewhere')).status, 404)
})

test('a wrong method without a key is 401', async () => {
  assert.equal((await get('/historian/multi', { key: null })).status, 401)
})

test('All JSON is UTF-8', async () => {
  const answer = await multi({
    requests: { 'vår 🌊': { type: 'CURRENT_POINT', tag: 'local/A', details: {} } },
  })
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json; ?charset=utf-8$/i)
  assert.deepEqual(Object.keys(answer.body.results), ['vår 🌊'])
})

test('Requests may be gzip-encoded (Content-Encoding)', async () => {
  const body = gzipSync(JSON.stringify({ requests: { a: { type: 'CURRENT_POINT', tag: 'local/A' } } }))
  const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip' }
  const answer = await send('POST', '/historian/multi', body, { headers })
  assert.equal(answer.status, 200)
  assert.equal(answer.body.results.a.dataPoint.value, 1)
})

test('a gzip body that is cut or is none: 400; an unknown encoding: 415', async () => {
  const whole = gzipSync(JSON.stringify({ requests: {} }))
  const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip' }
  for (const bytes of [whole.subarray(0, 15), new TextEncoder().encode('{"requests":{}}')]) {
    const answer = await send('POST', '/historian/multi', bytes, { headers })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.errors, {})
  }
  const answer = await send('POST', '/historian/multi', '{}', {
    headers: { ...JSON_TYPE, 'Content-Encoding': 'lzma' },
  })
  assert.equal(answer.status, 415)
})

test('responses are compressed when the client accepts it and it pays', async () => {
  const call = async (accept: string, count: number) => {
    const response = await rawPost(accept, count)
    return { encoding: response.headers['content-encoding'], body: response.body }
  }
  const big = await call('gzip', 5000)
  assert.equal(big.encoding, 'gzip')
  assert.equal(JSON.parse(gunzipSync(big.body).toString()).results.a.dataPoints.length, 5000)
  const small = await call('gzip', 1)
  assert.equal(small.encoding, undefined)
  const refused = await call('identity', 5000)
  assert.equal(refused.encoding, undefined)
  assert.equal(JSON.parse(refused.body.toString()).results.a.dataPoints.length, 5000)
  assert.equal((await call('gzip;q=0', 5000)).encoding, undefined)
})

// fetch decompresses on its own, so this one looks at the wire
async function rawPost(accept: string, count: number) {
  const { request } = await import('node:http')
  const body = JSON.stringify({
    requests: {
      a: {
        type: 'INTERPOLATED_POINTS',
        tag: 'local/A',
        details: { from: '2026-01-01', to: count === 1 ? '2026-01-01' : '2026-01-02', count },
      },
    },
  })
  const { promise, resolve, reject } = Promise.withResolvers<{
    headers: Record<string, unknown>
    body: Buffer
  }>()
  const sent = request(
    `${service.url}/historian/multi`,
    {
      method: 'POST',
      headers: { ...JSON_TYPE, 'X-Api-Key': service.writeKey, 'Accept-Encoding': accept },
    },
    (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(parts) }))
    },
  )
  sent.on('error', reject)
  sent.end(body)
  return await promise
}

const HOSTILE = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '"',
  "'",
  '\\',
  'a\nb',
  'a\u0000b',
  '🌊',
  '\u2028',
  '</script>',
  '0',
  '1e3',
  'results',
  'x'.repeat(2000),
]

/** JSON with a `__proto__` key as an own one, as a client's serialiser writes it. */
const hostileRequests = (request: unknown) =>
  `{${HOSTILE.map((label) => `${JSON.stringify(label)}:${JSON.stringify(request)}`).join(',')}}`

test('Labels like __proto__, empty strings, quotes, newlines and emoji come back as that label in results', async () => {
  const body = `{"requests":${hostileRequests({ type: 'CURRENT_POINT', tag: 'local/A' })}}`
  const answer = await send('POST', '/historian/multi', body, { headers: JSON_TYPE })
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys(answer.body.results).toSorted(), HOSTILE.toSorted())
  for (const label of HOSTILE) assert.equal(own(answer.body.results, label).dataPoint.value, 1)
})

test('Labels like __proto__, empty strings, quotes, newlines and emoji come back as that label in errors and explain', async () => {
  const requests = hostileRequests({ type: 'CURRENT_POINT', tag: 'local/none' })
  const answer = await send('POST', '/historian/multi', `{"requests":${requests}}`, { headers: JSON_TYPE })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body.results, {})
  assert.deepEqual(Object.keys(answer.body.errors).toSorted(), HOSTILE.toSorted())
  assert.equal(own(answer.body.errors, '__proto__'), 'Tag local/none does not exist')
  const labels = answer.body.issues.map((issue: Json) => issue.label)
  assert.deepEqual(labels.toSorted(), HOSTILE.toSorted())
  const good = hostileRequests({ type: 'CURRENT_POINT', tag: 'local/A' })
  const explained = await send('POST', '/historian/multi', `{"explain":true,"requests":${good}}`, {
    headers: JSON_TYPE,
  })
  assert.equal(explained.status, 200)
  assert.deepEqual(Object.keys(explained.body.explain.requests).toSorted(), HOSTILE.toSorted())
})

test('a label twice in one call is answered once, the last one as JSON readers do', async () => {
  const answer = await send(
    'POST',
    '/historian/multi',
    '{"requests":{"a":{"type":"CURRENT_POINT","tag":"local/none"},"a":{"type":"CURRENT_POINT","tag":"local/A"}}}',
    { headers: JSON_TYPE },
  )
  assert.ok(answer.status === 200 || answer.status === 400)
  if (answer.status === 200) assert.equal(answer.body.results.a.dataPoint.value, 1)
})

test('Tag addresses are arbitrary strings: hostile ones are written, read, found, or refused with 400', async () => {
  for (const name of HOSTILE) {
    const address = `local/${name}`
    const answer = await send(
      'POST',
      '/historian/write/points',
      `{"createTags":true,"points":{${JSON.stringify(address)}:[{"timestamp":1,"value":5}]}}`,
      { headers: JSON_TYPE },
    )
    const refused =
      name === '' || name.length > 512 || ['\n', '\u0000'].some((control) => name.includes(control))
    assert.equal(answer.status, refused ? 400 : 200, JSON.stringify(name))
    if (refused) continue
    const read = await multi({ requests: { a: { type: 'CURRENT_POINT', tag: address } } })
    assert.equal(read.body.results.a.dataPoint.value, 5)
    const got = await post('/historian/metadata/get', { tags: [address] })
    assert.deepEqual(Object.keys(got.body.entries), [address])
  }
  for (const address of [
    '__proto__',
    'constructor',
    '',
    '/',
    'local',
    '__proto__/x',
    'constructor/__proto__',
  ]) {
    const answer = await send(
      'POST',
      '/historian/write/points',
      `{"createTags":true,"points":{${JSON.stringify(address)}:[]}}`,
      { headers: JSON_TYPE },
    )
    assert.equal(answer.status, 400)
    assert.equal(answer.body.errors.length, 1)
  }
})

test('Unknown fields are ignored, but never silently: warnings, one for each field and kind of place', async () => {
  const request = {
    type: 'RAW_POINTS',
    tag: 'local/A',
    details: { from: '2026-01-01', to: '2026-01-02', maxpoints: 5 },
  }
  const answer = await multi({ requests: { a: request, b: request } })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body.warnings, [
    'Unknown field maxpoints in the details of RAW_POINTS was ignored; maxPoints was meant?',
  ])
  assert.equal(answer.body.results.a.dataPoints.length, 1)
})

test('an answer without unknown fields has no warnings', async () => {
  const answer = await multi({ requests: { a: { type: 'CURRENT_POINT', tag: 'local/A' } } })
  assert.equal('warnings' in answer.body, false)
})

test('warnings stand in every kind of place, and are at most 100', async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`field${i}`, 1]))
  const top = await multi({ requests: {}, ...many })
  assert.equal(top.status, 200)
  assert.equal(top.body.warnings.length, 100)
  const inRequest = await multi({ requests: { a: { type: 'CURRENT_POINT', tag: 'local/A', extra: 1 } } })
  assert.match(inRequest.body.warnings[0], /extra/)
  const cases: [string, unknown][] = [
    ['/historian/write/points', { points: {}, extra: 1 }],
    ['/historian/write/points', { points: { 'local/A': [{ timestamp: 1, value: 1, extra: 1 }] } }],
    ['/historian/metadata/create', { entries: {}, extra: 1 }],
    ['/historian/metadata/update', { entries: { 'local/A': { extra: 1 } } }],
    ['/historian/metadata/get', { tags: [], extra: 1 }],
    ['/historian/metadata/delete', { tags: [], extra: 1 }],
    ['/historian/metadata/rename', { renames: {}, extra: 1 }],
    ['/historian/delete/points', { ranges: {}, extra: 1 }],
    ['/historian/delete/points', { ranges: { 'local/A': [{ from: 5, to: 6, extra: 1 }] } }],
  ]
  for (const [path, body] of cases) {
    const answer = await post(path, body)
    assert.equal(answer.status, 200, `${path} ${answer.text}`)
    assert.equal(answer.body.warnings?.length, 1, path)
    assert.match(answer.body.warnings[0], /^Unknown field extra in .* was ignored/)
  }
})

test('points read are written back without harm: the fields of an answer are tolerated by a write', async () => {
  const { body } = await multi({
    requests: {
      a: { type: 'RAW_POINTS', tag: 'local/A', details: { from: '2026-01-01', to: '2026-01-02' } },
    },
  })
  const answer = await post('/historian/write/points', { points: { 'local/A': body.results.a.dataPoints } })
  assert.deepEqual(answer.body, { message: 'All points written!', errors: [] })
})

test('Types are never coerced', async () => {
  const cases: [string, unknown][] = [
    ['/historian/write/points', { createTags: 'true', points: {} }],
    ['/historian/write/points', { createTags: 1, points: {} }],
    ['/historian/write/points', { points: [] }],
    ['/historian/write/points', { points: { 'local/A': { timestamp: 1, value: 1 } } }],
    ['/historian/write/points', { points: { 'local/A': [{ timestamp: 1, value: '1' }] } }],
    ['/historian/metadata/create', { entries: [], updateIfExists: false }],
    ['/historian/metadata/create', { entries: {}, updateIfExists: 'true' }],
    ['/historian/metadata/update', { entries: {}, createIfMissing: 1 }],
    ['/historian/metadata/get', { tags: 'local/A' }],
    ['/historian/metadata/delete', { tags: 'local/A' }],
    ['/historian/metadata/delete', { tags: [], dryRun: 'true' }],
    ['/historian/metadata/rename', { renames: [] }],
    ['/historian/delete/points', { ranges: [] }],
    ['/historian/multi', { requests: [] }],
    ['/historian/multi', { requests: 'x' }],
    ['/historian/multi', { requests: {}, explain: 'true' }],
    ['/historian/multi', { requests: {}, format: 'rows' }],
  ]
  for (const [path, body] of cases) {
    const answer = await post(path, body)
    assert.equal(answer.status, 400, `${path} ${JSON.stringify(body)} ${answer.text}`)
    assert.ok(answer.body.message.length > 10)
  }
})

test('Machine-readable twins: a non-empty errors has issues with code and message', async () => {
  const answer = await post('/historian/write/points', {
    points: {
      'local/A': [
        { timestamp: 1, value: 1 },
        { timestamp: 'never', value: 'x' },
      ],
    },
  })
  assert.equal(answer.status, 400)
  assert.equal(answer.body.issues.length, answer.body.errors.length)
  for (const [i, issue] of answer.body.issues.entries()) {
    assert.match(issue.code, /^[A-Z][A-Z0-9_]+$/)
    assert.equal(issue.message, answer.body.errors[i])
    assert.equal(issue.tag, 'local/A')
    assert.equal(issue.index, 1)
  }
  assert.equal(answer.body.issues[0].input, 'never')
})

test('issues stand on metadata with tag, and on multi with label and column', async () => {
  const meta = await post('/historian/metadata/create', { entries: { 'local/A': {} } })
  assert.equal(meta.body.issues.length, 1)
  assert.equal(meta.body.issues[0].tag, 'local/A')
  assert.equal(meta.body.issues[0].message, 'Tag local/A already exists')
  const many = await multi({ requests: { broken: { type: 'CURRENT_POINT', tag: 'calc/ADD(local/A, (' } } })
  assert.equal(many.body.issues[0].label, 'broken')
  assert.equal(many.body.issues[0].message, many.body.errors.broken)
  assert.equal(typeof many.body.issues[0].column, 'number')
})

test('an answer without errors has no issues', async () => {
  const answer = await multi({ requests: {} })
  assert.deepEqual(Object.keys(answer.body).toSorted(), ['errors', 'now', 'results'])
})

test("Every response carries X-Request-Id: the client's own when it matches, else made", async () => {
  for (const id of ['abc', 'A-1._z', 'x'.repeat(128)]) {
    const answer = await get('/historian/list', { headers: { 'X-Request-Id': id } })
    assert.equal(answer.headers.get('x-request-id'), id)
  }
  for (const id of ['x'.repeat(129), 'a b', 'a/b', 'a;b', 'é']) {
    const made = (await get('/historian/list', { headers: { 'X-Request-Id': id } })).headers.get(
      'x-request-id',
    )
    assert.match(made ?? '', /^[A-Za-z0-9._-]{1,128}$/)
    assert.notEqual(made, id)
  }
  const made = new Set<string | null>()
  for (const path of [
    '/historian/list',
    '/historian/none',
    '/health/live',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/',
  ]) {
    made.add((await get(path, { key: null })).headers.get('x-request-id'))
  }
  for (const answer of [
    await send('POST', '/historian/multi', '{', { headers: JSON_TYPE }),
    await send('POST', '/historian/multi', '{}'),
    await send('PUT', '/historian/multi', '{}'),
    await send('OPTIONS', '/historian/multi', undefined, { key: null }),
  ]) {
    made.add(answer.headers.get('x-request-id'))
  }
  assert.equal(made.size, 11)
  assert.equal(made.has(null), false)
})

test('and the log line has it too', async () => {
  await get('/historian/list', { headers: { 'X-Request-Id': 'find-me-in-the-log' } })
  await until(() => /"requestId":"find-me-in-the-log"/.test(service.stderr()), 'a line with the id')
})

test('HEAD, OPTIONS and odd methods never give a 5xx', async () => {
  for (const method of ['HEAD', 'OPTIONS', 'PROPFIND', 'SEARCH']) {
    for (const path of ['/historian/list', '/historian/multi', '/health/live', '/nothing']) {
      const answer = await send(method, path, undefined)
      assert.ok(answer.status < 500, `${method} ${path} ${answer.status}`)
    }
  }
})

test('addresses that are not well-formed never give a 5xx or a stack', async () => {
  for (const path of [
    '/historian/%',
    '/historian/%ff',
    '/historian/search?search=%ff',
    '/%00',
    '/historian/../x',
  ]) {
    const answer = await get(path)
    assert.ok(answer.status >= 200 && answer.status < 500, `${path} ${answer.status}`)
    assert.doesNotMatch(answer.text, /node_modules|\.ts:\d|at async/)
  }
})

function own(from: object, name: string): Json {
  return Object.getOwnPropertyDescriptor(from, name)?.value
}
