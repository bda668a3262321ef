import assert from 'node:assert/strict'
import test from 'node:test'
import { get, post, READ_KEY, seed, testService, WRITE_KEY } from '../../../../test/http/service.ts'

test('requests, points and historian calls are counted, without naming tags, keys or historians', async () => {
  const { app } = testService()
  await seed(app)
  await post(app, '/historian/write/points', { points: { 'nowhere/x': [] } })
  await get(app, `/no/such/path?apikey=${READ_KEY}`, {})
  const { status, text, headers } = await get(app, '/metrics', {})
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  assert.match(
    text,
    /tidemark_http_requests_total\{route="\/historian\/write\/points",method="POST",status="200"\} 1/,
  )
  assert.match(
    text,
    /tidemark_http_requests_total\{route="\/historian\/write\/points",method="POST",status="400"\} 1/,
  )
  assert.match(text, /tidemark_http_requests_total\{route="unknown",method="GET",status="404"\} 1/)
  assert.match(text, /tidemark_points_total\{type="memory",direction="written"\} 6/)
  assert.match(text, /tidemark_historian_calls_total\{type="memory",operation="write",outcome="ok"\} 1/)
  assert.match(text, /tidemark_calls_in_work 0/)
  assert.match(text, /tidemark_event_loop_lag_seconds\{quantile="0.99"\} \d/)
  assert.doesNotMatch(text, new RegExp(`FLOW|local|writer|such|${READ_KEY}|${WRITE_KEY}`))
})

test('requests are counted by the methods of the interface, and all others together', async () => {
  const { app } = testService()
  const headers = { 'x-api-key': WRITE_KEY }
  const url = '/historian/aliases/level'
  for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND'] as const) {
    await app.inject({ method: method as 'PUT', url, headers, payload: { tag: 'value/1' } })
  }
  const { text } = await get(app, '/metrics', {})
  const counted = text.split('\n').filter((line) => line.startsWith('tidemark_http_requests_total{'))
  const route = '/historian/aliases/*'
  assert.deepEqual(counted, [
    `tidemark_http_requests_total{route="${route}",method="PUT",status="201"} 1`,
    `tidemark_http_requests_total{route="${route}",method="DELETE",status="204"} 1`,
    'tidemark_http_requests_total{route="unknown",method="other",status="405"} 2',
  ])
})

test('the metrics are behind a key when the configuration says so', async () => {
  const { app } = testService({ server: { metricsNeedKey: true } })
  assert.equal((await get(app, '/metrics', {})).status, 401)
  assert.equal((await get(app, '/metrics')).status, 200)
})
