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

test('the metrics are behind a key when the configuration says so', async () => {
  const { app } = testService({ server: { metricsNeedKey: true } })
  assert.equal((await get(app, '/metrics', {})).status, 401)
  assert.equal((await get(app, '/metrics')).status, 200)
})
