import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askBody, historianOf } from '../../test/multi-harness.ts'
import { Evaluation } from '../calc/graph/evaluation.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { MemoryGate } from '../scheduling/memory-gate.ts'

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

test('labels that are started a few thousand at a time keep their answers and errors, and equal reads are made once', async () => {
  const plant = await historianOf('plant', {
    FLOW: {
      points: [
        ['10:00', 0],
        ['12:00', 7_200],
      ],
    },
  })
  const start = Date.UTC(2026, 0, 15, 10) / 1_000
  const labels = Array.from({ length: 10_000 }, (_, i) => {
    const tag = i % 1_000 === 999 ? 'plant/NOPE' : 'plant/FLOW'
    return [`l${i}`, { type: 'HISTORICAL_POINT', tag, details: { at: start + (i % 5_000) } }] as const
  })
  const { json, answer } = await askBody([plant], { requests: Object.fromEntries(labels) })
  assert.equal(Object.keys(json.errors).length, 10)
  for (const [i, [label]] of labels.entries()) {
    if (i % 1_000 === 999) assert.equal(json.errors[label], 'Tag plant/NOPE does not exist')
    else assert.ok(Math.abs(json.results[label].dataPoint.value - (i % 5_000)) < 1e-9, label)
  }
  // Two bounding points, or a computed value, for each instant that is read.
  assert.ok(answer.statistics.points <= 2 * 4_995, `${answer.statistics.points} points`)
})

test('labels of wide calculations are started a few at a time: others go on in between', async (t) => {
  const plant = await historianOf('plant', { FLOW: { points: [['10:00', 10]] } })
  const labels = Array.from({ length: 100 }, (_, i) => {
    const shifts = Array.from({ length: 100 }, (_, k) => `TIMESHIFT(plant/FLOW, -${1_000 * i + k})`)
    return [
      `${i}`,
      { type: 'HISTORICAL_POINT', tag: `calc/ADD(${shifts})`, details: { at: '2026-01-15T11:00:00Z' } },
    ] as const
  })
  let started = 0
  let most = 0
  t.mock.method(Evaluation.prototype, 'pause', async () => {
    most = Math.max(most, started)
    started = 0
  })
  const { charge } = Evaluation.prototype
  t.mock.method(Evaluation.prototype, 'charge', function (this: Evaluation, values: number) {
    started++
    return charge.call(this, values)
  })
  const { json } = await askBody([plant], { requests: Object.fromEntries(labels) })
  for (const [label] of labels) assert.equal(json.results[label].dataPoint.value, 1_000)
  assert.ok(most < 1_000, `${most} evaluations began at once`)
})

test('a call whose calculations have more than a million arguments is refused while it is parsed', async () => {
  const plant = await historianOf('plant', {})
  const list = Array(4_900).fill('1').join()
  const requests = Object.fromEntries(
    Array.from({ length: 210 }, (_, i) => [`${i}`, { type: 'CURRENT_POINT', tag: `calc/ADD(${i},${list})` }]),
  )
  const { answer } = await askBody([plant], { requests })
  assert.equal(answer.outcome, 'limit')
})

test('so is one whose calculations stand in aggregatesOf', async () => {
  const plant = await historianOf('plant', {})
  const list = Array(4_900).fill('1').join()
  const requests = Object.fromEntries(
    Array.from({ length: 210 }, (_, i) => {
      const details = { from: 'now-1h', aggregatesOf: `calc/ADD(${i},${list})` }
      return [`${i}`, { type: 'INTERVALS', tag: 'plant/FLOW', details }]
    }),
  )
  const { answer } = await askBody([plant], { requests })
  assert.equal(answer.outcome, 'limit')
})

test('long calculations wait for their turn, also where all of them are parsed at once', async (t) => {
  const plant = await historianOf('plant', {})
  const sum = `calc/ADD(${Array(4_800).fill('1').join()})`
  const at = '2026-01-15T11:00:00Z'
  const requests = Object.fromEntries(
    Array.from({ length: 4 }, (_, i) => [
      [`a${i}`, { type: 'HISTORICAL_POINT', tag: sum, details: { at } }],
      [
        `b${i}`,
        { type: 'INTERVALS', tag: 'constants/1', details: { from: at, to: 'now', aggregatesOf: sum } },
      ],
    ]).flat(),
  )
  for (const isAtOnce of [true, false]) {
    t.mock.getter(CooperativeScheduler.prototype, 'isDue', () => !isAtOnce)
    const run = t.mock.method(MemoryGate.prototype, 'run')
    await askBody([plant], { requests })
    const most = Math.max(...run.mock.calls.map(({ arguments: [bytes] }) => bytes))
    assert.ok(most > 8 * 64 * sum.length, `${most} bytes`)
    t.mock.restoreAll()
  }
})
