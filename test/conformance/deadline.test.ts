// Specification, section 7 and 8 (time to answer); interface, section 8 (deadline).
import assert from 'node:assert/strict'
import test from 'node:test'
import { until } from '../until.ts'
import { conformance } from './service.ts'

const { multi, get, service } = await conformance(`
limits:
  deadlineSeconds: 1
`)

// 240 totals of constants over 33,000 times, others for each label: seconds of work that never waits for a historian
const longCall = (label: number) => {
  const totals = Array.from(
    { length: 240 },
    (_, i) => `TOTALISE(${label + i / 1000},${i + 1}h,BEGIN_YEAR,1h)`,
  )
  return {
    type: 'INTERPOLATED_POINTS',
    tag: `calc/ADD(${totals.join(',')})`,
    details: { from: '1990-01-01', to: '2026-01-01', count: 33_000 },
  }
}
const LONG = { a: longCall(1), __b: longCall(2), c: longCall(3) }

test('Deadline: 504, results empty, every label in errors; work is really cancelled', async () => {
  const askBeside = async () => {
    let isAnswered = false
    const call = multi({ requests: LONG }, { key: service.readKey })
    const answered = call.finally(() => {
      isAnswered = true
    })
    await get('/health/live', { key: null })
    const wasBeside = !isAnswered
    const { status, body } = await answered
    assert.equal(status, 504)
    return wasBeside && body
  }
  // Where asking takes longer than the deadline, it is asked once more.
  const body = await until(askBeside, 'others are answered while a long call is at work')
  assert.deepEqual(body.results, {})
  assert.deepEqual(Object.keys(body.errors).toSorted(), ['__b', 'a', 'c'])
  assert.equal(body.errors.a, body.message)
  assert.match(body.message, /within 1 second/)
  assert.equal(body.issues.length, 3)
  assert.deepEqual(
    new Set(body.issues.map((issue: { code: string }) => issue.code)),
    new Set(['DEADLINE_EXCEEDED']),
  )
})

test('the service answers as before after a deadline', async () => {
  assert.equal((await get('/historian/list')).status, 200)
  // A machine that stands still for a second ends any call.
  const isAnswered = async () => {
    const { status } = await multi({ requests: { a: { type: 'CURRENT_POINT', tag: 'constants/1' } } })
    return status === 200
  }
  await until(isAnswered, 'a call is answered')
})
