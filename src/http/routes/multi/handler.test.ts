import assert from 'node:assert/strict'
import test from 'node:test'
import { LOCAL_KEY, post, READ_KEY, seed, testService } from '../../../../test/http/service.ts'
import { SlowHistorian } from '../../../../test/http/slow-historian.ts'
import { DEFAULT_LIMITS } from '../../../config/settings.ts'

const { app } = testService({ settings: { limits: { ...DEFAULT_LIMITS, requestedPoints: 5_000 } } })
test.before(() => seed(app))
const URL = '/historian/multi/'
const current = { type: 'CURRENT_POINT', tag: 'local/FLOW' }

test('labels are answered with a read key, invalid ones under errors', async () => {
  const requests = {
    level: { type: 'CURRENT_POINT', tag: 'local/TANK_LEVEL' },
    none: { ...current, tag: 'local/NONE' },
  }
  const { status, body } = await post(app, URL, { requests }, READ_KEY)
  assert.equal(status, 200)
  assert.deepEqual(body.results, {
    level: { dataPoint: { timestamp: '2026-01-15T11:59:50.000Z', value: 3.2, status: 'OK' } },
  })
  assert.deepEqual(body.errors, { none: 'Tag local/NONE does not exist' })
  assert.equal(body.issues[0].label, 'none')
  assert.equal(body.now, '2026-01-15T12:00:00.000Z')
})

test('no request at all is answered with nothing', async () => {
  const { status, body } = await post(app, URL, { requests: {} })
  assert.equal(status, 200)
  assert.deepEqual(body, { results: {}, errors: {}, now: '2026-01-15T12:00:00.000Z' })
})

for (const [title, body] of [
  ['without requests', {}],
  ['with requests that are an array', { requests: [] }],
  ['that is no object', 5],
  ['with a wrong now', { requests: {}, now: 'soonish' }],
  ['with a wrong zone', { requests: {}, timeZone: 'Atlantis/Poseidonis' }],
] as const) {
  test(`a call ${title} is 400, with errors as an object`, async () => {
    const answer = await post(app, URL, body)
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.errors, {})
    assert.ok(answer.body.message.length > 0)
  })
}

test('a call over a limit is 400 with the sentence under every label', async () => {
  const details = { from: 'now-1h', to: 'now', count: 5_001 }
  const requests = { a: { type: 'INTERPOLATED_POINTS', tag: 'local/FLOW', details }, b: current }
  const { status, body } = await post(app, URL, { requests })
  assert.equal(status, 400)
  assert.deepEqual(body.results, {})
  assert.deepEqual(body.errors, { a: body.message, b: body.message })
  assert.match(body.message, /5000.*5002/)
  const explained = await post(app, URL, { requests, explain: true })
  assert.equal(explained.status, 200)
  assert.equal(explained.body.explain.allowed, false)
})

test('a call past its deadline is 504 with every label in errors', async () => {
  const slow = new SlowHistorian('local')
  const limits = { ...DEFAULT_LIMITS, deadlineSeconds: 0.05 }
  const { app } = testService({ historians: [slow], settings: { limits } })
  const { status, body } = await post(app, URL, { requests: { a: current, b: current } })
  assert.equal(status, 504)
  assert.deepEqual(body.results, {})
  assert.deepEqual(Object.keys(body.errors), ['a', 'b'])
})

test('a historian that the key may not see does not exist', async () => {
  const { body } = await post(app, URL, { requests: { a: { ...current, tag: 'lab/FLOW' } } }, LOCAL_KEY)
  assert.deepEqual(body.errors, { a: 'Historian lab for tag FLOW does not exist' })
})
