import assert from 'node:assert/strict'
import test from 'node:test'
import { testService, WRITE_KEY } from './service.ts'
import { SlowHistorian } from './slow-historian.ts'
import { requestText, statusesIn, Wire } from './wire.ts'

const GET_TAGS = '/historian/metadata/get'
const body = '{"tags":["local/x"]}'
const point = { timestamp: '2026-01-15T10:00:00Z', value: 1 }

test('a shutdown answers what it has accepted, closes each connection, and the historians last', async () => {
  const slow = new SlowHistorian('local')
  const { app, listen } = testService({ historians: [slow] })
  const port = await listen()
  const [busy, idle, fresh] = [await Wire.open(port), await Wire.open(port), await Wire.open(port)]
  idle.send(requestText('GET', '/health/live'))
  await idle.until(/"live"/)
  const write = JSON.stringify({ points: { 'local/a': [point] }, createTags: true })
  busy.send(requestText('POST', '/historian/write/points', { 'x-api-key': WRITE_KEY }, write))
  await slow.reached(1)

  const closing = app.close()
  await idle.end()
  await fresh.end()
  await assert.rejects(Wire.open(port), { code: 'ECONNREFUSED' })
  assert.equal(slow.closed, false)
  slow.release()
  const answer = await busy.end()
  assert.match(answer, /All points written!/)
  assert.match(answer, /connection: close\r\n/i)
  await closing
  assert.equal(slow.closed, true)
})

test('requests that were pipelined before a shutdown are all answered, only the last with Connection: close', async () => {
  const slow = new SlowHistorian('local')
  const { app, listen } = testService({ historians: [slow] })
  const port = await listen()
  const [wire, idle] = [await Wire.open(port), await Wire.open(port)]
  idle.send(requestText('GET', '/health/live'))
  await idle.until(/"live"/)
  const request = requestText('POST', GET_TAGS, {}, body)
  wire.send(request + request + request)
  await slow.reached(3)
  const closing = app.close()
  // The shutdown has begun when connections without a call are closed.
  await idle.end()
  slow.release()
  const answer = await wire.end()
  assert.deepEqual(statusesIn(answer), [200, 200, 200])
  assert.equal(Array.from(answer.matchAll(/connection: close/gi)).length, 1)
  await closing
})

test('a call that outlasts the shutdown is cancelled, and told so', async () => {
  const slow = new SlowHistorian('local')
  const { app, listen } = testService({ historians: [slow], server: { shutdownSeconds: 0.1 } })
  const wire = await Wire.open(await listen())
  wire.send(requestText('POST', GET_TAGS, {}, body))
  await slow.reached(1)
  await app.close()
  assert.deepEqual(statusesIn(await wire.end()), [503])
  assert.match(wire.text, /"code":"SHUTTING_DOWN"/)
  assert.equal(slow.cancelled, 1)
  assert.equal(slow.closed, true)
})

test('a client that never finishes its request does not hold up a shutdown for ever', async () => {
  const slow = new SlowHistorian('local')
  const { app, listen } = testService({ historians: [slow], server: { shutdownSeconds: 0.1 } })
  const port = await listen()
  const [body, head] = [await Wire.open(port), await Wire.open(port)]
  body.send(requestText('POST', GET_TAGS, { 'content-length': '1000' }, '{'))
  head.send('GET /health/live HTTP/1.1\r\nhost: x\r\n')
  const probe = await Wire.open(port)
  probe.send(requestText('GET', '/health/live'))
  await probe.until(/"live"/)
  await app.close()
  await Promise.all([body.end(), head.end(), probe.end()])
  assert.equal(slow.closed, true)
})

test('a shutdown closes the historians also when one of them cannot be closed', async () => {
  class Stuck extends SlowHistorian {
    override async close(): Promise<void> {
      throw new Error('stuck')
    }
  }
  const last = new SlowHistorian('z')
  const { app, logLines } = testService({ historians: [new Stuck('a'), last] })
  await app.ready()
  await app.close()
  assert.equal(last.closed, true)
  assert.match(logLines().join(''), /could not be closed/)
})
