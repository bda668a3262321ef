import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { until } from '../until.ts'
import { get, LOCAL_KEY, post, READ_KEY, testService, WRITE_KEY } from './service.ts'
import { SlowHistorian } from './slow-historian.ts'
import { requestText, statusesIn, Wire } from './wire.ts'

const MIB = 1_048_576
const GET_TAGS = '/historian/metadata/get'

type App = ReturnType<typeof testService>['app']

async function metricOf(app: App, name: string): Promise<number> {
  const { text } = await get(app, '/metrics')
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

/** Sends heads and the start of their bodies, and waits until all of them are being read. */
async function announce(app: App, port: number, count: number, path: string, length: number, key: string) {
  const wires = await Promise.all(Array.from({ length: count }, () => Wire.open(port)))
  for (const wire of wires)
    wire.send(requestText('POST', path, { 'x-api-key': key, 'content-length': String(length) }, '{'))
  await until(
    async () => (await metricOf(app, 'tidemark_calls_arriving')) === count,
    'all of them are being read',
  )
  return wires
}

test('bodies that are announced and do not come keep nobody out, however many and however long', async () => {
  const { app, listen } = testService({
    server: { maxBytesInWork: 256 * MIB, writeBodyLimitBytes: 64 * MIB, maxConcurrentCalls: 64 },
  })
  const port = await listen()
  const long = await announce(app, port, 8, '/historian/write/points', 64 * MIB, WRITE_KEY)
  assert.ok((await metricOf(app, 'tidemark_request_bytes_in_work')) < 1_000)
  for (const wire of long) wire.destroy()
  await until(async () => (await metricOf(app, 'tidemark_calls_arriving')) === 0, 'they are gone')
  const short = await announce(app, port, 200, GET_TAGS, 100, READ_KEY)
  for (const key of [READ_KEY, WRITE_KEY, LOCAL_KEY]) {
    assert.equal((await post(app, GET_TAGS, { tags: [] }, key)).status, 200)
  }
  assert.equal(await metricOf(app, 'tidemark_calls_in_work'), 0)
  for (const wire of short) wire.destroy()
  await until(async () => (await metricOf(app, 'tidemark_calls_arriving')) === 0, 'they are gone')
})

test('a body of which nothing comes any more is refused with 408, and its connection ends', async () => {
  const { app, listen } = testService({ server: { silenceSeconds: 0.3 } })
  const port = await listen()
  for (const headers of [
    { 'content-length': '100' },
    { 'transfer-encoding': 'chunked' },
    { 'content-length': '100', 'content-encoding': 'gzip' },
  ]) {
    const wire = await Wire.open(port)
    wire.send(requestText('POST', GET_TAGS, { 'content-type': 'application/json', ...headers }))
    const answer = await wire.until(/BODY_SILENT[^}]*\}\]\}/)
    assert.deepEqual(statusesIn(answer), [408])
    wire.destroy()
  }
  await until(async () => (await metricOf(app, 'tidemark_calls_arriving')) === 0, 'they are gone')
})

test('a body that comes slowly, but comes, is read to its end', async () => {
  const { listen } = testService({ server: { silenceSeconds: 2 } })
  const wire = await Wire.open(await listen())
  const body = '{"tags":[]}'
  wire.send(
    requestText('POST', GET_TAGS, {
      'content-type': 'application/json',
      'content-length': String(body.length),
      connection: 'close',
    }),
  )
  for (const character of body) {
    wire.send(character)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.deepEqual(statusesIn(await wire.end()), [200])
})

test('a head that does not come to its end is answered with 408', async () => {
  const { listen } = testService({ server: { silenceSeconds: 0.3 } })
  const wire = await Wire.open(await listen())
  wire.send('GET /historian/list HTTP/1.1\r\nHost: x\r\n')
  assert.deepEqual(statusesIn(await wire.end()), [408])
})

test('one key with many slow calls leaves places for another from elsewhere', async () => {
  const slow = new SlowHistorian('local')
  const { app, listen } = testService({
    historians: [slow],
    server: { maxConcurrentCalls: 8, trustedProxies: ['127.0.0.1'] },
  })
  const port = await listen()
  const body = '{"tags":["local/x"]}'
  const ask = async (address: string, key: string) => {
    const wire = await Wire.open(port)
    const headers = { 'x-api-key': key, 'x-forwarded-for': address, connection: 'close' }
    wire.send(requestText('POST', GET_TAGS, headers, body))
    return wire
  }
  const greedy: Wire[] = []
  for (let i = 0; i < 8; i++) {
    const wire = await ask('192.0.2.1', READ_KEY)
    greedy.push(wire)
    if (i < 6) await slow.reached(i + 1)
    else assert.match(await wire.end(), / 503 .*calls of the same key or address/s)
  }
  const other = await ask('192.0.2.2', WRITE_KEY)
  await slow.reached(7)
  assert.equal(await metricOf(app, 'tidemark_calls_in_work'), 7)
  slow.release()
  for (const wire of [...greedy.slice(0, 6), other]) assert.deepEqual(statusesIn(await wire.end()), [200])
})

test('bodies count by what has come of them, and one that would not fit is refused before it is sent', async () => {
  const { app, listen } = testService({ server: { maxBytesInWork: 200_000, callerSharePercent: 100 } })
  const port = await listen()
  const first = await Wire.open(port)
  first.send(requestText('POST', GET_TAGS, { 'content-length': '180000' }, ' '.repeat(150_000)))
  await until(
    async () => (await metricOf(app, 'tidemark_request_bytes_in_work')) === 150_000,
    'what was sent is held',
  )
  const second = await Wire.open(port)
  const head = { 'content-type': 'application/json', 'content-length': '60000', expect: '100-continue' }
  second.send(requestText('POST', GET_TAGS, head))
  const answer = await second.until(/\}\]\}/)
  assert.deepEqual(statusesIn(answer), [503])
  assert.match(answer, /retry-after: 1\r\n/)
  assert.match(answer, /"code":"OVERLOADED"/)
  first.destroy()
  second.destroy()
  await until(async () => (await metricOf(app, 'tidemark_request_bytes_in_work')) === 0, 'all is given back')
})

test('a compressed body counts with what it has grown to', async () => {
  const { app } = testService({ server: { maxBytesInWork: 100_000 } })
  const payload = gzipSync(`{"tags":[]}${' '.repeat(99_000)}`)
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-api-key': READ_KEY }
  assert.equal((await app.inject({ method: 'POST', url: GET_TAGS, headers, payload })).statusCode, 200)
  assert.equal(await metricOf(app, 'tidemark_request_bytes_in_work'), 0)
})

for (const [form, more] of [
  ['in canonical form', {}],
  ['in another form', { note: 1 }],
] as const) {
  test(`many points in few bytes, ${form}, count with the memory that they take, of which one call alone may have all`, async () => {
    const { app, listen } = testService({ server: { maxBytesInWork: 1_500_000, callerSharePercent: 100 } })
    const port = await listen()
    const columns = { timestamps: Array(100_000).fill(0), values: Array(100_000).fill(0) }
    const body = { ...more, createTags: true, points: { 'local/dense': columns } }
    const other = await Wire.open(port)
    other.send(requestText('POST', GET_TAGS, { 'content-length': '300000' }, ' '.repeat(200_000)))
    await until(
      async () => (await metricOf(app, 'tidemark_request_bytes_in_work')) === 200_000,
      'what was sent is held',
    )
    const write = () => post(app, '/historian/write/points', body, WRITE_KEY)
    assert.equal((await write()).status, 503)
    assert.equal(await metricOf(app, 'tidemark_request_bytes_in_work'), 200_000)
    other.destroy()
    await until(async () => (await metricOf(app, 'tidemark_request_bytes_in_work')) === 0, 'it is given back')
    assert.equal((await write()).status, 200)
    assert.equal(await metricOf(app, 'tidemark_request_bytes_in_work'), 0)
  })
}

test('connections beyond those allowed, in all or of one address, are closed at once; a proxy may have more', async () => {
  for (const [server, allowed] of [
    [{ maxConnections: 3 }, 3],
    [{ maxConnectionsPerAddress: 2 }, 2],
    [{ maxConnectionsPerAddress: 2, trustedProxies: ['loopback'] }, 4],
  ] as const) {
    const { app, listen, logLines } = testService({ server })
    const port = await listen()
    const wires: Wire[] = []
    for (let i = 0; i < 4; i++) {
      const wire = await Wire.open(port)
      wires.push(wire)
      wire.send(requestText('GET', '/health/live'))
      const answer = await wire.until(/"live"/)
      assert.deepEqual(statusesIn(answer), i < allowed ? [200] : [])
    }
    assert.equal(await metricOf(app, 'tidemark_connections'), allowed)
    assert.equal(await metricOf(app, 'tidemark_connections_refused_total'), 4 - allowed)
    const told = logLines().filter((line) => line.includes('connections beyond the limit'))
    assert.equal(told.length, allowed < 4 ? 1 : 0)
    for (const wire of wires) wire.destroy()
    await until(async () => (await metricOf(app, 'tidemark_connections')) === 0, 'they are closed')
    // A place that was left is taken again.
    const again = await Wire.open(port)
    again.send(requestText('GET', '/health/live', { connection: 'close' }))
    assert.deepEqual(statusesIn(await again.end()), [200])
  }
})
