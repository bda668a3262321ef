import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askBody, askOne, historianOf, type Json, show } from '../../../test/multi-harness.ts'

const plant = await historianOf('plant', {
  FLOW: {
    points: [
      ['1999-05-05T00:00:00Z', 7],
      ['10:00', 4],
      ['10:10', 1, 'BAD'],
      ['10:20', 9],
      ['12:00', 2],
      ['13:00', 6],
    ],
  },
})

async function raw(details: object, tag = 'plant/FLOW', call: object = {}): Promise<Json> {
  return askOne([plant], 'RAW_POINTS', tag, details, { call })
}

test('the newest points before now, the oldest of them first', async () => {
  assert.deepEqual(show((await raw({ last: 2 })).dataPoints), ['10:10 1 BAD', '10:20 9'])
  assert.deepEqual(show((await raw({ last: 2, order: 'desc' })).dataPoints), ['10:20 9', '10:10 1 BAD'])
})

test('`to` is excluded, and boundaries are ignored', async () => {
  const details = { last: 1, to: '2026-01-15T12:00:00Z', leftBoundary: 'NEAREST', rightBoundary: 'INCLUDE' }
  assert.deepEqual(show((await raw(details)).dataPoints), ['10:20 9'])
  assert.deepEqual(show((await raw({ last: 1, to: '9999-01-01T00:00:00Z' })).dataPoints), ['13:00 6'])
})

test('there is no next, whether there are fewer or more', async () => {
  const all = await raw({ last: 100, to: '2026-01-16T00:00:00Z' })
  assert.equal(all.dataPoints.length, 6)
  assert.equal((await raw({ last: 1 })).next, undefined)
  assert.deepEqual((await raw({ last: 3, to: '1999-05-05T00:00:00Z' })).dataPoints, [])
})

test('the newest points of a calculation', async () => {
  const { dataPoints } = await raw({ last: 2, to: '2026-01-15T12:30:00Z' }, 'calc/MUL(plant/FLOW, 10)')
  assert.deepEqual(show(dataPoints), ['10:20 90', '12:00 20'])
})

test('they count as so many requested points, and are no more load', async () => {
  const requests = { a: { type: 'RAW_POINTS', tag: 'plant/FLOW', details: { last: 3 } } }
  const { json } = await askBody([plant], { explain: true, requests })
  assert.equal(json.explain.requests.a.requestedPoints, 3)
  assert.ok(json.explain.requests.a.load <= 4)
})

test('beside from, maxPoints or cursor it is an error', async () => {
  for (const other of [{ from: 'yesterday' }, { maxPoints: 5 }, { cursor: 'AAAA' }]) {
    const { error } = await raw({ last: 2, ...other })
    assert.match(error, /last/)
    assert.match(error, new RegExp(Object.keys(other)[0]!))
  }
  assert.match((await raw({ last: 0 })).error, /at least 1/)
  assert.equal((await raw({ last: 2, from: null, maxPoints: null, cursor: null })).dataPoints.length, 2)
})

test('a range without `to` ends at the now of the call', async () => {
  const from = '2026-01-15T10:00:00Z'
  const call = { now: '2026-01-15T10:10:00Z' }
  assert.deepEqual(show((await raw({ from }, 'plant/FLOW', call)).dataPoints), ['10:00 4'])
  const of = (type: string, details: object) =>
    askOne([plant], type, 'plant/FLOW', { from, ...details }, { call })
  const grid = await of('INTERPOLATED_POINTS', { count: 2, to: null })
  assert.deepEqual(show(grid.dataPoints), ['10:00 4', '10:10 6.5'])
  const { aggregates } = await of('AGGREGATED_POINTS', { aggregates: ['COUNT'] })
  assert.equal(aggregates[0].to, '2026-01-15T10:10:00.000Z')
  assert.equal((await of('MULTIPLE_AGGREGATED_POINTS', { count: 2 })).aggregates.length, 2)
  assert.deepEqual(show((await of('PLOT', { width: 1 })).dataPoints), ['10:00 4', '10:10 6.5'])
  const late = await of('RAW_POINTS', { from: '2026-01-15T11:00:00Z' })
  assert.match(late.error, /from/)
})

test('a page goes on to the now of its first call', async () => {
  const from = '2026-01-15T10:00:00Z'
  const first = await raw({ from, maxPoints: 1 }, 'plant/FLOW', { now: '2026-01-15T10:20:00Z' })
  const second = await raw({ cursor: first.next }, 'plant/FLOW', { now: '2026-01-15T14:00:00Z' })
  assert.deepEqual(show(second.dataPoints), ['10:10 1 BAD'])
  assert.equal(second.next, undefined)
})
