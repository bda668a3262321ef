import assert from 'node:assert/strict'
import test from 'node:test'
import { get, READ_KEY, testService } from './service.ts'

const ORIGIN = 'https://dashboards.example.com'

function preflight(app: ReturnType<typeof testService>['app'], origin: string, url = '/historian/multi') {
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key',
  }
  return app.inject({ method: 'OPTIONS', url, headers })
}

test('a preflight of a configured origin needs no key', async () => {
  const { app } = testService({ server: { corsOrigins: [ORIGIN] } })
  const { statusCode, headers } = await preflight(app, ORIGIN)
  assert.equal(statusCode, 204)
  assert.equal(headers['access-control-allow-origin'], ORIGIN)
  assert.match(String(headers['access-control-allow-headers']), /X-Api-Key/)
  assert.match(String(headers['access-control-allow-methods']), /POST/)
  assert.equal(headers.vary, 'Origin')
})

test('any other origin gets no leave', async () => {
  const { app } = testService({ server: { corsOrigins: [ORIGIN] } })
  for (const origin of ['https://evil.example.com', 'null', `${ORIGIN}.evil.com`, ORIGIN.toUpperCase()]) {
    assert.equal((await preflight(app, origin)).headers['access-control-allow-origin'], undefined)
    const { headers } = await get(app, '/historian/list', { origin, 'x-api-key': READ_KEY })
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

test('errors can be read by a page too', async () => {
  const { app } = testService({ server: { corsOrigins: [ORIGIN] } })
  const { status, headers } = await get(app, '/historian/list', { origin: ORIGIN })
  assert.equal(status, 401)
  assert.equal(headers['access-control-allow-origin'], ORIGIN)
  assert.match(String(headers['access-control-expose-headers']), /X-Request-Id/)
  assert.match(String(headers.vary), /Origin, Accept-Encoding/)
})

test('* lets every origin in, without credentials', async () => {
  const { app } = testService({ server: { corsOrigins: ['*'] } })
  const { headers } = await preflight(app, 'https://anything.example')
  assert.equal(headers['access-control-allow-origin'], '*')
  assert.equal(headers['access-control-allow-credentials'], undefined)
})

test('without configured origins an OPTIONS request is one like any other', async () => {
  const { app } = testService()
  assert.equal((await preflight(app, ORIGIN)).statusCode, 401)
})
