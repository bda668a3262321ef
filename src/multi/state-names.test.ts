import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, fill, type Json, LIMITS, NOON } from '../../test/multi-harness.ts'
import { HistorianRegistry } from '../historian/registry.ts'
import { UTC } from '../time/zone.ts'
import { createMetadata } from '../write/metadata.ts'
import { runMulti } from './run.ts'

const STATES = { '0': 'Closed', '1': 'Open "wide"', '-0.5': 'Ætt\u{1f525}' }
const plant = new MemoryHistorian('plant')
const context = { signal: new AbortController().signal }
await fill(plant, {
  VALVE: {
    points: [
      ['10:00', 0],
      ['10:10', 1, 'BAD'],
      ['10:20', 7],
      ['10:30', -0],
      ['11:00', -0.5],
    ],
  },
  FLOW: { points: [['10:00', 1]] },
  EMPTY: { points: [] },
})
for (const name of ['VALVE', 'EMPTY']) {
  const metadata = { description: null, units: null, stepped: false, states: STATES }
  await plant.putTags([{ name, metadata }], 'update', context)
}

async function ask(requests: Json, call: object = {}): Promise<Json> {
  return (await askBody([plant], { ...call, requests })).json
}

const point = (time: string, value: number | null, status: string, enumString: string | null) => ({
  timestamp: `2026-01-15T${time}:00.000Z`,
  value,
  status,
  enumString,
})

test('raw points of a tag with states have the name of their value, BAD ones too, and null without one', async () => {
  const details = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T12:00:00Z' }
  const { results } = await ask({ a: { type: 'RAW_POINTS', tag: 'plant/VALVE', details } })
  assert.deepEqual(results.a, {
    dataPoints: [
      point('10:00', 0, 'OK', 'Closed'),
      point('10:10', 1, 'BAD', 'Open "wide"'),
      point('10:20', 7, 'OK', null),
      point('10:30', -0, 'OK', 'Closed'),
      point('11:00', -0.5, 'OK', 'Ætt\u{1f525}'),
    ],
    enumDictionary: STATES,
  })
})

test('in columns the names are one more column', async () => {
  const details = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T10:30:00Z' }
  const { results } = await ask(
    { a: { type: 'RAW_POINTS', tag: 'plant/VALVE', details } },
    { format: 'columns' },
  )
  const { dataPoints, enumDictionary } = results.a
  assert.deepEqual(dataPoints.values, [0, 1, 7])
  assert.deepEqual(dataPoints.states, ['Closed', 'Open "wide"', null])
  assert.deepEqual(dataPoints.statuses, ['OK', 'BAD', 'OK'])
  assert.deepEqual(enumDictionary, STATES)
})

test('single points have the name, also where there is no point; the answer of the fast path is the same', async () => {
  const at = '2026-01-15T10:15:00Z'
  const requests = {
    'lä"bel': { type: 'CURRENT_POINT', tag: 'plant/VALVE' },
    flow: { type: 'CURRENT_POINT', tag: 'plant/FLOW' },
    none: { type: 'CURRENT_POINT', tag: 'plant/EMPTY' },
  }
  const more = {
    before: { type: 'POINT_BEFORE', tag: 'plant/VALVE', details: { at } },
    held: { type: 'HISTORICAL_POINT', tag: 'plant/VALVE', details: { at } },
    beside: { type: 'ADJACENT_POINTS', tag: 'plant/VALVE', details: { at } },
  }
  const { results } = await ask({ ...requests, ...more })
  assert.deepEqual(results['lä"bel'], { dataPoint: point('11:00', -0.5, 'OK', 'Ætt\u{1f525}') })
  assert.deepEqual(Object.keys(results.flow.dataPoint), ['timestamp', 'value', 'status'])
  assert.deepEqual(results.none, { dataPoint: point('12:00', null, 'BAD', null) })
  assert.deepEqual(results.before, { dataPoint: point('10:10', 1, 'BAD', 'Open "wide"') })
  assert.deepEqual(results.held, { dataPoint: point('10:15', 0, 'OK', 'Closed') })
  assert.deepEqual(results.beside, {
    before: point('10:10', 1, 'BAD', 'Open "wide"'),
    at: point('10:15', 0, 'OK', 'Closed'),
    after: point('10:20', 7, 'OK', null),
  })
  const call = {
    historians: new HistorianRegistry([plant]),
    limits: LIMITS,
    now: NOON,
    defaultZone: UTC,
    defaultHistorian: null,
    signal: new AbortController().signal,
  }
  for (const isPrompt of [true, false]) {
    plant.isPrompt = isPrompt
    const [fast, slow] = await Promise.all([
      runMulti({ requests }, call),
      runMulti({ requests }, call, { slowPathOnly: true }),
    ])
    const textOf = (answer: typeof fast) => Buffer.concat([...answer.chunks()]).toString()
    assert.equal(textOf(fast), textOf(slow))
    assert.equal(fast.whole?.(), null)
  }
})

test('other points have neither names nor a dictionary', async () => {
  const details = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T11:00:00Z', count: 2 }
  const { results } = await ask({
    interpolated: { type: 'INTERPOLATED_POINTS', tag: 'plant/VALVE', details },
    calculated: { type: 'RAW_POINTS', tag: 'calc/ADD(plant/VALVE, 0)', details },
    current: { type: 'CURRENT_POINT', tag: 'calc/ADD(plant/VALVE, 0)' },
    flow: { type: 'RAW_POINTS', tag: 'plant/FLOW', details },
  })
  for (const label of ['interpolated', 'calculated', 'flow']) {
    assert.deepEqual(Object.keys(results[label]), ['dataPoints'])
    assert.deepEqual(Object.keys(results[label].dataPoints[0]), ['timestamp', 'value', 'status'])
  }
  assert.deepEqual(Object.keys(results.current.dataPoint), ['timestamp', 'value', 'status'])
})

test('thousands of points come as few ones do', async () => {
  const points = Array.from({ length: 3_000 }, (_, i) => [
    `2026-01-01T00:00:00.${String(i).padStart(6, '0')}Z`,
    i % 3,
  ])
  await fill(plant, { MANY: { points: points as never } })
  await createMetadata(
    { entries: { 'plant/MANY': { states: { 0: 'a', 2: 'c' } } }, updateIfExists: true },
    {
      historians: new HistorianRegistry([plant]),
      now: NOON,
      defaultZone: UTC,
      deadlineSeconds: 9,
      signal: context.signal,
    },
  )
  const details = { from: '2026-01-01', to: '2026-01-02', maxPoints: 3_000 }
  const requests = { a: { type: 'RAW_POINTS', tag: 'plant/MANY', details } }
  const rows = (await ask(requests)).results.a.dataPoints
  const columns = (await ask(requests, { format: 'columns' })).results.a.dataPoints
  assert.equal(rows.length, 3_000)
  rows.forEach(({ value, enumString }: Json, i: number) => {
    assert.equal(value, i % 3)
    assert.equal(enumString, ['a', null, 'c'][i % 3])
    assert.equal(columns.states[i], enumString)
  })
})
