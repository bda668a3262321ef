import assert from 'node:assert/strict'
import test from 'node:test'
import { get, LOCAL_KEY, post, READ_KEY, testService, WRITE_KEY } from './service.ts'

const GET_TAGS = '/historian/metadata/get'
/** So low that none but the burst of one call is allowed while a test runs. */
const ONE_CALL = { callsPerSecond: 0.001 }
const SENTENCE =
  'More than 0.001 calls a second came of one key, or of one address without a valid key: try again in 1000 s'

test('calls beyond the rate of a key get 429 with the time to wait, and those of another key are answered', async () => {
  const { app } = testService({ server: ONE_CALL })
  assert.equal((await post(app, GET_TAGS, { tags: [] }, READ_KEY)).status, 200)
  const refused = await post(app, GET_TAGS, { tags: [] }, READ_KEY)
  assert.equal(refused.status, 429)
  assert.match(String(refused.headers['retry-after']), /^(?:9\d\d|1000)$/)
  const sentence = (text: string) => text.replace(/\d+ s$/, '1000 s')
  assert.equal(sentence(refused.body.message), SENTENCE)
  assert.deepEqual(
    refused.body.issues.map(({ code }: { code: string }) => code),
    ['RATE_LIMITED'],
  )
  assert.deepEqual(Object.keys(refused.body.errors), ['*'])
  // Every endpoint counts, and one that does not exist.
  for (const path of ['/historian/list', '/nothing'])
    assert.equal((await get(app, path, { 'x-api-key': READ_KEY })).status, 429, path)
  assert.deepEqual((await post(app, '/historian/multi', { requests: {} }, READ_KEY)).body.errors, {})
  for (const key of [WRITE_KEY, LOCAL_KEY])
    assert.equal((await post(app, GET_TAGS, { tags: [] }, key)).status, 200)
})

test('requests without a valid key count for their address, and keep no key out', async () => {
  const { app } = testService({ server: ONE_CALL })
  const status = async (headers: Record<string, string>) =>
    (await get(app, '/historian/list', headers)).status
  assert.equal(await status({}), 401)
  assert.deepEqual([await status({}), await status({ 'x-api-key': 'guessed' })], [429, 429])
  assert.equal(await status({ 'x-api-key': READ_KEY }), 200)
})

test('probes, metrics and pages are not counted, and the metrics say what was refused', async () => {
  const { app } = testService({ server: { ...ONE_CALL, metricsNeedKey: true } })
  await post(app, GET_TAGS, { tags: [] }, READ_KEY)
  for (let i = 0; i < 3; i++) {
    for (const path of ['/health/live', '/health/ready', '/metrics', '/openapi.json'])
      assert.equal((await get(app, path)).status, 200, path)
  }
  await post(app, GET_TAGS, { tags: [] }, READ_KEY)
  await get(app, '/historian/list', {})
  for (let i = 0; i < 2; i++) await get(app, '/historian/list', {})
  const { text } = await get(app, '/metrics')
  assert.match(text, /^tidemark_calls_rate_limited_total\{by="key"\} 1$/m)
  assert.match(text, /^tidemark_calls_rate_limited_total\{by="address"\} 2$/m)
  assert.match(text, /^tidemark_http_requests_total\{[^}]*status="429"\} 2$/m)
})

test('without the setting nothing is counted', async () => {
  const { app } = testService()
  for (let i = 0; i < 300; i++) assert.equal((await get(app, '/historian/list')).status, 200)
  const { text } = await get(app, '/metrics')
  assert.match(text, /^tidemark_calls_rate_limited_total\{by="key"\} 0$/m)
})
