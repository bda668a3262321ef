import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { testService } from './service.ts'
import { SlowHistorian } from './slow-historian.ts'
import { requestText, statusesIn, Wire } from './wire.ts'

const LIMIT = 256 * 1024
const GET_TAGS = '/historian/metadata/get'

const service = testService({ server: { bodyLimitBytes: LIMIT } })
let port = 0
test.before(async () => {
  port = await service.listen()
})

/** Sends one text on a fresh connection and gives all that comes back until the server closes, or `pattern` matches. */
async function exchange(text: string | Buffer, pattern?: RegExp): Promise<string> {
  const wire = await Wire.open(port)
  wire.send(text)
  const answer = await (pattern === undefined ? wire.end() : wire.until(pattern))
  wire.destroy()
  return answer
}

async function stillAnswers(): Promise<void> {
  const answer = await exchange(requestText('GET', '/health/live', { connection: 'close' }))
  assert.deepEqual(statusesIn(answer), [200])
}
test.afterEach(stillAnswers)

test('a body that breaks off leaves no call behind', async () => {
  const wire = await Wire.open(port)
  wire.send(requestText('POST', GET_TAGS, { 'content-length': '1000' }, '{"tags":['))
  wire.socket.end()
  await wire.end()
  assert.doesNotMatch(wire.text, / 200 /)
  const metrics = await exchange(requestText('GET', '/metrics', { connection: 'close' }))
  assert.match(metrics, /tidemark_calls_in_work 0\n/)
  assert.match(metrics, /tidemark_request_bytes_in_work 0\n/)
})

test('a body that announces too much is refused before any of it is sent', async () => {
  const head = requestText('POST', GET_TAGS, {
    'content-type': 'application/json',
    'content-length': '99999999999',
  })
  const answer = await exchange(head, /\}$/)
  assert.deepEqual(statusesIn(answer), [413])
  assert.match(answer, /BODY_TOO_LARGE/)
})

test('a body that never ends is refused as it streams', async () => {
  const wire = await Wire.open(port)
  wire.send(
    requestText('POST', GET_TAGS, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
  )
  const chunk = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`)
  for (let sent = 0; sent < 10; sent++) wire.send(chunk)
  const answer = await wire.until(/BODY_TOO_LARGE[^}]*\}\]\}/)
  assert.deepEqual(statusesIn(answer), [413])
  wire.destroy()
})

test('a client that sends all of a refused body first still gets its answer, on a connection that goes on', async () => {
  const wire = await Wire.open(port)
  wire.send(requestText('POST', GET_TAGS, {}, ' '.repeat(20 * LIMIT)))
  await wire.until(/BODY_TOO_LARGE[^}]*\}\]\}/)
  wire.send(requestText('GET', '/health/live', { connection: 'close' }))
  assert.deepEqual(statusesIn(await wire.end()), [413, 200])
})

test('a bomb is refused when it has grown over the limit, however small it came', async () => {
  const bomb = gzipSync(Buffer.alloc(50 * 1024 ** 2, 0x20))
  assert.ok(bomb.length < LIMIT)
  const wire = await Wire.open(port)
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', connection: 'close' }
  wire.send(requestText('POST', GET_TAGS, { ...headers, 'content-length': String(bomb.length) }))
  wire.send(bomb)
  assert.deepEqual(statusesIn(await wire.until(/BODY_TOO_LARGE[^}]*\}\]\}/)), [413])
  wire.destroy()
})

test('a client that waits for 100 Continue hears the refusal instead', async () => {
  const expect = { 'content-type': 'application/json', expect: '100-continue' }
  for (const [status, headers] of [
    [401, { 'x-api-key': 'wrong', 'content-length': '10' }],
    [413, { 'content-length': '99999999' }],
    [415, { 'content-type': 'text/plain', 'content-length': '10' }],
  ] as const) {
    const answer = await exchange(requestText('POST', GET_TAGS, { ...expect, ...headers }), /\}$/)
    assert.deepEqual(statusesIn(answer), [status])
  }
})

test('another expectation is no reason to refuse', async () => {
  const answer = await exchange(
    requestText('GET', '/historian/list', { expect: 'miracles', connection: 'close' }),
  )
  assert.deepEqual(statusesIn(answer), [200])
})

test('a client that waits for 100 Continue is told to go on when all is well', async () => {
  const body = '{"tags":[]}'
  const wire = await Wire.open(port)
  const headers = { 'content-type': 'application/json', expect: '100-continue', connection: 'close' }
  wire.send(requestText('POST', GET_TAGS, { ...headers, 'content-length': String(body.length) }))
  await wire.until(/100 Continue\r\n\r\n/)
  wire.send(body)
  assert.deepEqual(statusesIn(await wire.end()), [100, 200])
})

test('requests sent in one go are answered in their order', async () => {
  const body = '{"tags":["local/none"]}'
  const texts = [
    requestText('GET', '/historian/list', { 'x-request-id': 'one' }),
    requestText('POST', GET_TAGS, { 'x-request-id': 'two' }, body),
    requestText('GET', '/nope', { 'x-request-id': 'three' }),
    requestText('GET', '/health/live', { 'x-request-id': 'four', connection: 'close' }),
  ]
  const answer = await exchange(texts.join(''))
  assert.deepEqual(statusesIn(answer), [200, 200, 404, 200])
  assert.deepEqual(
    Array.from(answer.matchAll(/x-request-id: (\w+)/g), ([, id]) => id),
    ['one', 'two', 'three', 'four'],
  )
})

for (const [title, text, status] of [
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['an unknown method', requestText('BREW', '/historian/list'), 400],
  ['a method in small letters', requestText('get', '/historian/list'), 400],
  ['a head that is too large', requestText('GET', '/historian/list', { 'x-large': 'x'.repeat(70_000) }), 431],
  [
    'a line break inside a request id',
    requestText('GET', '/historian/list', { 'x-request-id': 'a\r\n b' }),
    400,
  ],
  [
    'two lengths',
    `${requestText('POST', GET_TAGS, { 'content-length': '2' }).slice(0, -2)}content-length: 3\r\n\r\n{}`,
    400,
  ],
  [
    'a length beside chunks',
    requestText('POST', GET_TAGS, { 'content-length': '2', 'transfer-encoding': 'chunked' }),
    400,
  ],
] as const) {
  test(`${title} is answered with ${status} in the usual shape`, async () => {
    const answer = await exchange(text)
    assert.deepEqual(statusesIn(answer), [status])
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
    assert.equal(typeof body.message, 'string')
    assert.equal(Array.isArray(body.errors), true)
    assert.match(answer, /X-Request-Id: [\w-]{36}\r\n/i)
  })
}

test('a request id cannot smuggle a header into the answer', async () => {
  // A lone carriage return and a control character are what a parser might let through.
  for (const id of ['a\rx-evil: 1', 'a\u0000b', 'a%0d%0ax-evil: 1']) {
    const answer = await exchange(
      requestText('GET', '/health/live', { 'x-request-id': id, connection: 'close' }),
    )
    assert.doesNotMatch(answer.split('\r\n\r\n')[0]!, /^x-evil/im)
    assert.match(answer, /x-request-id: [0-9a-f-]{36}\r\n/i)
  }
})

test('a whole URL as the target is routed by its path, and a bare asterisk is no path', async () => {
  const close = { connection: 'close' }
  assert.deepEqual(
    statusesIn(await exchange(requestText('GET', 'http://elsewhere/historian/list', close))),
    [200],
  )
  assert.deepEqual(statusesIn(await exchange(requestText('OPTIONS', '*', close))), [404])
})

test('a client that goes away cancels its call, also one behind another on the same connection', async () => {
  const slow = new SlowHistorian('local')
  const { listen, app } = testService({ historians: [slow] })
  const wire = await Wire.open(await listen())
  const request = requestText('POST', GET_TAGS, {}, '{"tags":["local/x"]}')
  wire.send(request + request)
  await slow.reached(2)
  wire.destroy()
  await slow.reachedCancelled(2)
  const { payload } = await app.inject({ url: '/metrics' })
  assert.match(
    payload,
    /tidemark_http_requests_total\{route="\/historian\/metadata\/get",method="POST",status="499"\} 2/,
  )
})

test('calls beyond those allowed at once are sent away with a time to come back', async () => {
  const slow = new SlowHistorian('local')
  const { listen } = testService({ historians: [slow], server: { maxConcurrentCalls: 2 } })
  const slowPort = await listen()
  const body = '{"tags":["local/x"]}'
  const busy = await Promise.all([Wire.open(slowPort), Wire.open(slowPort)])
  for (const wire of busy) wire.send(requestText('POST', GET_TAGS, { connection: 'close' }, body))
  await slow.reached(2)
  const extra = await Wire.open(slowPort)
  extra.send(requestText('POST', GET_TAGS, {}, body))
  const answer = await extra.until(/\}\]\}/)
  assert.deepEqual(statusesIn(answer), [503])
  assert.match(answer, /retry-after: \d+\r\n/)
  assert.match(answer, /"code":"OVERLOADED"/)
  // Probes and pages are no calls.
  extra.send(requestText('GET', '/health/live'))
  await extra.until(/"live"/)
  slow.release()
  for (const wire of busy) assert.deepEqual(statusesIn(await wire.end()), [200])
  extra.send(requestText('POST', GET_TAGS, { connection: 'close' }, body))
  await slow.reached(1)
  slow.release()
  assert.deepEqual(statusesIn(await extra.end()), [503, 200, 200])
})
