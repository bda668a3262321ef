// Specification, section 7 and 8 (time to answer); interface, section 8 (deadline).
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance } from './service.ts'

const { multi, get, service } = await conformance(`
limits:
  deadlineSeconds: 0.5
`)

// 240 totals of constants over 100,000 times: seconds of work that never waits for a historian
const totals = Array.from({ length: 240 }, (_, i) => `TOTALISE(${i},${i + 1}h,BEGIN_YEAR,1h)`)
const LONG = {
  type: 'INTERPOLATED_POINTS',
  tag: `calc/ADD(${totals.join(',')})`,
  details: { from: '1990-01-01', to: '2026-01-01', count: 33_000 },
}

test('Deadline: 504, results empty, every label in errors; work is really cancelled', async () => {
  const call = multi({ requests: { a: LONG, __b: LONG, c: LONG } }, { key: service.readKey })
  let answered = false
  call.then(() => {
    answered = true
  })
  await get('/health/live', { key: null })
  assert.equal(answered, false, 'others are answered while a long call is at work')
  const { status, body } = await call
  assert.equal(status, 504)
  assert.deepEqual(body.results, {})
  assert.deepEqual(Object.keys(body.errors).toSorted(), ['__b', 'a', 'c'])
  assert.equal(body.errors.a, body.message)
  assert.match(body.message, /0\.5/)
  assert.equal(body.issues.length, 3)
  assert.deepEqual(
    new Set(body.issues.map((issue: { code: string }) => issue.code)),
    new Set(['DEADLINE_EXCEEDED']),
  )
})

test('the service answers as before after a deadline', async () => {
  assert.equal((await get('/historian/list')).status, 200)
  const { status } = await multi({ requests: { a: { type: 'CURRENT_POINT', tag: 'constants/1' } } })
  assert.equal(status, 200)
})
