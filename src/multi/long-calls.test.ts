import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askBody, historianOf } from '../../test/multi-harness.ts'

test('calls of many labels that wait for each other are all answered, calculations too', async () => {
  const plant = await historianOf('plant', { FLOW: { points: [['10:00', 10]] } })
  const labels = Array.from({ length: 4_000 }, (_, i) => {
    const tag = i % 100 === 0 ? 'calc/ADD(plant/FLOW, 1)' : i % 2 === 0 ? 'plant/FLOW' : 'plant/NOPE'
    return [`${i}`, { type: 'CURRENT_POINT', tag }] as const
  })
  // Eight of them are more than may be planned at a time.
  const calls = Array.from({ length: 12 }, () => askBody([plant], { requests: Object.fromEntries(labels) }))
  for (const { json } of await Promise.all(calls)) {
    assert.equal(Object.keys(json.results).length, 2_000)
    assert.equal(Object.keys(json.errors).length, 2_000)
    assert.equal(json.results[0].dataPoint.value, 11)
  }
})

test('one that waits ends with its deadline', async () => {
  const plant = await historianOf('plant', {})
  const requests = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, i) => [`${i}`, { type: 'CURRENT_POINT', tag: 'plant/NOPE' }]),
  )
  const [first, second] = await Promise.all([
    askBody([plant], { requests }),
    askBody([plant], { requests }, { limits: { deadlineSeconds: 0.001 } }),
  ])
  assert.equal(first.answer.outcome, 'executed')
  assert.equal(second.answer.outcome, 'deadline')
})
