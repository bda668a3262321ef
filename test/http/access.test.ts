import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { ErrorsShape } from '../../src/http/error-answer.ts'
import { ROUTES } from '../../src/http/routes/index.ts'
import {
  EXPIRED_KEY,
  get,
  jsonHeaders,
  post,
  READ_KEY,
  REVOKED_KEY,
  testKeys,
  testService,
  WRITE_KEY,
} from './service.ts'

const { app } = testService()

for (const { method, path, access, errors } of ROUTES) {
  const inject = (headers: Record<string, string>, payload?: string) =>
    app.inject({ method, url: path, headers, ...(payload !== undefined && { payload }) })

  if (access === 'open' || access === 'metrics') {
    test(`${method} ${path} needs no key`, async () => {
      assert.ok((await inject({})).statusCode < 400)
    })
    continue
  }

  test(`${method} ${path} refuses a missing and every kind of wrong key alike`, async () => {
    for (const key of [
      undefined,
      '',
      'unknown',
      'x'.repeat(5000),
      EXPIRED_KEY,
      REVOKED_KEY,
      `${WRITE_KEY} `,
      'ключ',
    ]) {
      // A header holds bytes; light-my-request takes them as they are.
      const response = await inject(
        key === undefined ? {} : { 'x-api-key': key.trimEnd() === WRITE_KEY ? `${WRITE_KEY}x` : key },
      )
      assert.equal(response.statusCode, 401)
      assert.match(String(response.headers['www-authenticate']), /^ApiKey /)
      const body = response.json()
      assert.deepEqual(body.errors, errorsOf(errors, body.message))
      assert.deepEqual(body.issues, [{ code: key ? 'KEY_INVALID' : 'KEY_MISSING', message: body.message }])
    }
  })

  test(`${method} ${path} answers other methods with 405 and what is allowed`, async () => {
    const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method as string)
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()
    for (const other of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'] as const) {
      if (allowed.includes(other)) continue
      const response = await app.inject({
        method: other as 'GET',
        url: `${path}/`,
        headers: { 'x-api-key': READ_KEY },
      })
      assert.equal(response.statusCode, 405, other)
      assert.equal(response.headers.allow, allowed.join(', '))
      if (other !== 'HEAD') assert.equal(Array.isArray(response.json().errors), errors === 'array')
    }
  })

  test(`${method} ${path} lets a read key ${access === 'write' ? 'not pass' : 'pass'}`, async () => {
    const response = await inject(jsonHeaders(READ_KEY), method === 'POST' ? '{}' : undefined)
    assert.equal(response.statusCode === 403, access === 'write')
  })
}

/** `errors` of an answer in which no label or entry is to blame. */
function errorsOf(shape: ErrorsShape, message: string): unknown {
  return { array: [message], labels: {}, entries: { '*': message } }[shape]
}

test('the key in the header wins over the one in the query, also when it is wrong', async () => {
  const url = `/historian/list?apikey=${READ_KEY}`
  assert.equal((await get(app, url, { 'x-api-key': 'wrong' })).status, 401)
  assert.equal((await get(app, '/historian/list?apikey=wrong', { 'x-api-key': READ_KEY })).status, 200)
  assert.equal((await get(app, url, { 'x-api-key': '' })).status, 200)
})

test('the parameter is named apikey and nothing else, and given once', async () => {
  for (const query of [
    `APIKEY=${READ_KEY}`,
    `apiKey=${READ_KEY}`,
    `apikey=${READ_KEY}&apikey=${READ_KEY}`,
    `api-key=${READ_KEY}`,
  ]) {
    assert.equal((await get(app, `/historian/list?${query}`, {})).status, 401, query)
  }
})

test('an unknown path is 404 with a key and 401 without one, whatever the method', async () => {
  for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND', 'OPTIONS'] as const) {
    for (const url of [
      '/nope',
      '/historian',
      '/historian/listx',
      '/historian//list',
      '/Historian/list',
      '/historian%2Flist',
      '/%zz',
      '/docs/nope',
    ]) {
      const known = await app.inject({ method: method as 'GET', url, headers: { 'x-api-key': READ_KEY } })
      assert.equal(known.statusCode, 404, `${method} ${url}`)
      assert.equal(known.json().issues[0].code, 'PATH_NOT_FOUND')
      assert.equal((await app.inject({ method: method as 'GET', url })).statusCode, 401, `${method} ${url}`)
    }
  }
})

test('an escaped path is the path that it stands for', async () => {
  assert.equal((await get(app, '/historian/%6Cist')).status, 200)
})

test('beneath a base path everything moves, and nothing is left at the root', async () => {
  const { app } = testService({ server: { basePath: '/tide/mark' } })
  assert.equal((await get(app, '/tide/mark/historian/list')).status, 200)
  assert.equal((await get(app, '/tide/mark/historian/list/')).status, 200)
  assert.equal((await get(app, '/tide/mark/health/live', {})).status, 200)
  assert.equal((await get(app, '/tide/mark/docs', {})).status, 200)
  assert.equal((await get(app, '/historian/list')).status, 404)
  assert.equal((await get(app, '/tide/mark/historian/multi')).status, 405)
})

test('HEAD answers like GET, without a body', async () => {
  const response = await app.inject({
    method: 'HEAD',
    url: '/historian/list',
    headers: { 'x-api-key': READ_KEY },
  })
  assert.equal(response.statusCode, 200)
  assert.equal(response.body, '')
})

test('a request id is the client’s own when harmless, and made otherwise', async () => {
  for (const id of ['a', 'A-b_c.9', 'x'.repeat(128)]) {
    assert.equal((await get(app, '/health/live', { 'x-request-id': id })).headers['x-request-id'], id)
  }
  for (const id of ['', 'a b', 'x'.repeat(129), 'a\tb', 'ä', '"><script>', 'a,b']) {
    const made = String((await get(app, '/health/live', { 'x-request-id': id })).headers['x-request-id'])
    assert.notEqual(made, id)
    assert.match(made, /^[A-Za-z0-9._-]{1,128}$/)
  }
})

test('every answer has a request id and the security headers, errors too', async () => {
  for (const [url, key] of [
    ['/historian/list', READ_KEY],
    ['/nope', READ_KEY],
    ['/historian/list', 'wrong'],
    ['/%zz', READ_KEY],
  ] as const) {
    const { headers } = await get(app, url, { 'x-api-key': key })
    assert.match(String(headers['x-request-id']), /^[A-Za-z0-9._-]+$/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(String(headers['content-security-policy']), /default-src 'none'/)
  }
})

test('the page of the reference loads only from the service itself', async () => {
  for (const url of ['/docs', '/docs/']) {
    const { status, headers, text } = await get(app, url, {})
    assert.equal(status, 200)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self';/)
    assert.doesNotMatch(policy, /https?:/)
    assert.match(text, /<link rel="icon" type="image\/svg\+xml"[^>]*theme\/icon\.svg/)
    assert.match(text, /theme\/tidemark\.css/)
    for (const [, source] of text.matchAll(/(?:src|href)="([^"]*)"/g))
      assert.doesNotMatch(source!, /^(?:https?:)?\/\//)
    for (const [, source] of text.matchAll(/<script[^>]*src="([^"]*)"/g)) {
      const path = new URL(source!, `http://host${url}`).pathname
      assert.equal((await get(app, path, {})).status, 200, path)
    }
  }
})

test('a file that the reference page does not have is 404 like any other path', async () => {
  const { status, text } = await get(app, '/docs/static/nope.js', {})
  assert.equal(status, 404)
  assert.equal(JSON.parse(text).issues[0].code, 'PATH_NOT_FOUND')
})

test('what a key opens is looked up anew in every turn of the event loop', async () => {
  const records = testKeys()
  let revoked = false
  const keys = { ...records, find: async (digest: Uint8Array) => (revoked ? null : records.find(digest)) }
  const { app } = testService({ keys })
  const ask = async () =>
    (await app.inject({ method: 'GET', url: '/historian/list', headers: { 'x-api-key': READ_KEY } }))
      .statusCode
  assert.deepEqual(await Promise.all([ask(), ask()]), [200, 200])
  revoked = true
  await setImmediate()
  assert.deepEqual(await Promise.all([ask(), ask()]), [401, 401])
  revoked = false
  await setImmediate()
  assert.equal(await ask(), 200)
})

test('the look with which a client of the interface opens is answered, and tells nothing', async () => {
  const { app } = testService({ server: { basePath: '/base' } })
  for (const headers of [{}, { 'x-api-key': 'wrong' }, { 'x-api-key': READ_KEY }]) {
    const { status, text } = await get(app, '/base//historian/list', headers)
    assert.deepEqual([status, text], [200, '{"historians":[]}'])
  }
  for (const path of [
    '//historian/list',
    '/base//historian/listwritable',
    '/base/historian//list',
    '/base///historian/list',
  ]) {
    assert.equal((await get(app, path, {})).status, 401, path)
    assert.equal((await get(app, path)).status, 404, path)
  }
})

test('dashboards post to the other path of multi, with a key', async () => {
  const { app } = testService()
  const body = { requests: { a: { type: 'CURRENT_POINT', tag: 'constants/5' } } }
  for (const path of ['/historian-servlet/multi', '/historian-servlet/multi/']) {
    const { status, body: answer } = await post(app, path, body, READ_KEY)
    assert.equal(status, 200)
    assert.equal(answer.results.a.dataPoint.value, 5)
    const { status: refused, body: refusal } = await post(app, path, body, 'wrong')
    assert.deepEqual([refused, refusal.errors], [401, {}])
  }
})
