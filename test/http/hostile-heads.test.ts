import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonHeaders, READ_KEY, testService } from './service.ts'
import { requestText, statusesIn, Wire } from './wire.ts'

const service = testService()
let port = 0
test.before(async () => {
  port = await service.listen()
})

async function exchange(text: string): Promise<string> {
  const wire = await Wire.open(port)
  wire.send(text)
  const answer = await wire.end()
  wire.destroy()
  return answer
}

const CLOSE = { connection: 'close' }

for (const path of [
  '/docs/static/../..',
  '/docs/static/%2e%2e/%2e%2e',
  '/docs/static/..%2f..%2fx',
  '/docs/static/a%5c..%5c..',
  '/docs/static/./x',
  '/docs/static//x',
  '/docs/static/%00',
  '/docs/static/logo.svg%00.x',
  '/docs/static/.hidden',
  '/docs/static/',
  `/docs/static/${'a'.repeat(300)}`,
  `/docs/static/${'a'.repeat(5_000)}`,
  '/docs/..',
  '/docs/%00',
  '/%00',
]) {
  test(`${path.slice(0, 40)} (${path.length} characters) is an unknown path, and no bug`, async () => {
    const from = service.logLines().length
    const answer = await exchange(requestText('GET', path, CLOSE))
    assert.deepEqual(statusesIn(answer), [404])
    assert.match(answer, /"code":"PATH_NOT_FOUND"/)
    assert.doesNotMatch(service.logLines().slice(from).join(''), /"level":"(?:error|warn)"/)
  })
}

test('the files of the reference page are there', async () => {
  for (const file of ['swagger-ui.css', 'swagger-initializer.js', 'logo.svg', 'swagger-ui-bundle.js']) {
    const { statusCode } = await service.app.inject({ url: `/docs/static/${file}` })
    assert.equal(statusCode, 200, file)
  }
})

for (const version of ['1.1', '1.0']) {
  test(`two Host headers are refused (HTTP/${version})`, async () => {
    const head = `GET /historian/list HTTP/${version}\r\nHost: a\r\nHOST: a\r\nX-Api-Key: ${READ_KEY}\r\n`
    const answer = await exchange(`${head}Connection: close\r\n\r\n`)
    assert.deepEqual(statusesIn(answer), [400])
    assert.match(answer, /more than one Host header/)
  })
}

test('a transfer coding beside chunked is refused as not implemented', async () => {
  const headers = {
    ...CLOSE,
    'content-type': 'application/json',
    'transfer-encoding': 'gzip, chunked',
  }
  const answer = await exchange(
    `${requestText('POST', '/historian/metadata/get', headers)}b\r\n{"tags":[]}\r\n0\r\n\r\n`,
  )
  assert.deepEqual(statusesIn(answer), [501])
  assert.match(answer, /"code":"TRANSFER_CODING"/)
})

test('chunked is parsed, however it is spelled', async () => {
  const headers = { ...CLOSE, 'content-type': 'application/json', 'transfer-encoding': 'Chunked' }
  const answer = await exchange(
    `${requestText('POST', '/historian/metadata/get', headers)}b\r\n{"tags":[]}\r\n0\r\n\r\n`,
  )
  assert.deepEqual(statusesIn(answer), [200])
})

test('a key that is sent as a request id is replaced, in the answer and in the log', async () => {
  const ours = 'tdm_Zk3mVqO1yX9-0aBcDeFgHiJkLmNoPqRsTuVwXyZ0123'
  for (const [id, headers, url] of [
    [READ_KEY, { 'x-api-key': READ_KEY }, '/historian/list'],
    [`run-${READ_KEY}.1`, { 'x-api-key': READ_KEY }, '/historian/list'],
    [READ_KEY, {}, `/historian/list?apikey=${READ_KEY}`],
    [ours, {}, '/health/live'],
    [`job.${ours}`, {}, '/nope'],
    [ours.slice(4), { 'x-api-key': ours }, '/historian/list'],
  ] as const) {
    const from = service.logLines().length
    const answer = await service.app.inject({ url, headers: { ...headers, 'x-request-id': id } })
    assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/)
    assert.doesNotMatch(service.logLines().slice(from).join(''), new RegExp(`${READ_KEY}|Zk3mVqO1yX9`))
  }
})

test('any other request id is taken over, also one that holds a short key', async () => {
  for (const id of ['a', '4bf92f3577b34da6a3ce929d0e0e4736', 'tdm_', 'atdm-1']) {
    const { headers } = await service.app.inject({
      url: '/historian/list',
      headers: { ...jsonHeaders('a'), 'x-request-id': id },
    })
    assert.equal(headers['x-request-id'], id)
  }
})
