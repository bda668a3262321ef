import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PushDownHistorian } from '../../../test/contract/push-down-historian.ts'
import {
  askBody,
  askOne,
  fill,
  historianOf,
  type Json,
  show,
  type TestTag,
} from '../../../test/multi-harness.ts'
import { FLOW } from './page-tags.fixture.ts'

const TAGS: Readonly<Record<string, TestTag>> = {
  FLOW,
  STATE: {
    stepped: true,
    points: [
      ['10:05', 1],
      ['10:15', 0],
    ],
  },
}

const RANGE = { from: '2026-01-15T10:00Z', to: '2026-01-15T11:00Z' }

async function historians() {
  const pushing = new PushDownHistorian('fast')
  await fill(pushing, TAGS)
  return [await historianOf('plant', TAGS), pushing]
}

async function plot(tag: string, details: object, call: object = {}): Promise<Json> {
  return askOne(await historians(), 'PLOT', tag, { ...RANGE, ...details }, { call })
}

// Worked by hand; the one of docs/multi.md.
const CHART = ['10:00 4', '10:10 1', '10:20 9', '10:40 null BAD', '10:50 3', '11:00 4']

for (const tag of [
  'plant/FLOW',
  'fast/FLOW',
  'calc/ADD(plant/FLOW, 0)',
  'calc/STEPPED(calc/ADD(fast/FLOW, 0))',
]) {
  test(`a chart of one column has its extremes, its edges and its break: ${tag}`, async () => {
    const { dataPoints, sampled } = await plot(tag, { width: 1 })
    const expected = tag.includes('STEPPED') ? [...CHART.slice(0, -1), '11:00 3'] : CHART
    assert.deepEqual(show(dataPoints), expected)
    assert.equal(sampled, true)
  })
}

test('columns with fewer than four good points have all of them', async () => {
  const { dataPoints, sampled } = await plot('plant/FLOW', { width: 2 })
  assert.deepEqual(show(dataPoints), [...CHART.slice(0, 3), '10:30 2', ...CHART.slice(3)])
  assert.equal(sampled, false)
})

test('the line begins with the first value and ends with the hold of the last one', async () => {
  for (const tag of ['plant/STATE', 'fast/STATE', 'calc/NEG(calc/NEG(plant/STATE))']) {
    const { dataPoints, sampled } = await plot(tag, { width: 3 }, { now: '2026-01-15T10:40Z' })
    assert.deepEqual(show(dataPoints), ['10:05 1', '10:15 0', '10:40:00.000001 null BAD'], tag)
    assert.equal(sampled, false)
  }
})

test('a range without points has the values at its edges alone', async () => {
  const details = { from: '2026-01-15T11:20Z', to: '2026-01-15T11:40Z', width: 5 }
  assert.deepEqual(show((await plot('fast/FLOW', details)).dataPoints), ['11:20 5', '11:40 5'])
  assert.deepEqual(show((await plot('constants/7', details)).dataPoints), ['11:20 7', '11:40 7'])
  assert.deepEqual(await plot('constants/empty', details), { dataPoints: [], sampled: false })
})

test('in columns a break is a null with status BAD', async () => {
  const { dataPoints, sampled } = await plot('fast/FLOW', { width: 1 }, { format: 'columns' })
  const start = Date.parse('2026-01-15T10:00:00Z')
  assert.deepEqual(dataPoints, {
    timestamps: [0, 10, 20, 40, 50, 60].map((minute) => start + minute * 60_000),
    values: [4, 1, 9, null, 3, 4],
    statuses: ['OK', 'OK', 'OK', 'BAD', 'OK', 'OK'],
    unit: 'ms',
  })
  assert.equal(sampled, true)
})

test('a plot counts 4 x width + 2 points, and its load is that of aggregates where the historian computes it', async () => {
  const details = { ...RANGE, width: 3 }
  const requests = {
    pushed: { type: 'PLOT', tag: 'fast/FLOW', details },
    read: { type: 'PLOT', tag: 'plant/FLOW', details },
  }
  const { json } = await askBody(await historians(), { explain: true, requests })
  const { pushed, read } = json.explain.requests
  assert.equal(pushed.requestedPoints, 14)
  assert.deepEqual(pushed.pushDowns, ['interpolation', 'plots'])
  // 3 columns, 2 for their edges, and the values at both ends.
  assert.equal(pushed.load, 7)
  // 6 raw points, and 2 bounding points of each end.
  assert.equal(read.load, 10)
  assert.deepEqual(read.pushDowns, [])
})

test('a width that is none is refused with what would be right', async () => {
  assert.match((await plot('plant/FLOW', {})).error, /width/)
  for (const width of [0, 10_001, 1.5, '100']) {
    assert.match((await plot('plant/FLOW', { width })).error, /width/, `${width}`)
  }
  assert.equal((await plot('plant/FLOW', { width: 10_000 })).sampled, false)
})

test('a calculation beyond the load limit is refused, or interpolated where the details say so', async () => {
  const limits = { historianLoad: 9 }
  const ask = async (details: object, tag = 'calc/ADD(plant/FLOW, fast/FLOW)') =>
    askBody(
      await historians(),
      { requests: { a: { type: 'PLOT', tag, details: { ...RANGE, ...details } } } },
      { limits },
    )
  const refused = await ask({ width: 2 })
  assert.equal(refused.json.issues[0].code, 'LIMIT_HISTORIAN_LOAD')
  const { json } = await ask({ width: 2, fallback: 'interpolated' })
  assert.equal(json.results.a.sampled, 'interpolated')
  assert.deepEqual(show(json.results.a.dataPoints), ['10:00 8', '11:00 8'])
  // What is within the limit stays a plot of raw points.
  const pushed = await ask({ width: 3, fallback: 'interpolated' }, 'fast/FLOW')
  assert.equal(pushed.json.results.a.sampled, false)
  assert.match((await ask({ width: 2, fallback: 'raw' })).json.errors.a, /fallback/)
})

test('a signal with too many points to generate is interpolated where the details say so', async () => {
  const details = { from: '1900-01-01T00:00:00Z', to: '2000-01-01T00:00:00Z', width: 3 }
  assert.match((await plot('siggen/sin10@60', details)).error, /generate/)
  const { dataPoints, sampled } = await plot('siggen/sin10@60', { ...details, fallback: 'interpolated' })
  assert.equal(sampled, 'interpolated')
  assert.equal(dataPoints.length, 3)
})
