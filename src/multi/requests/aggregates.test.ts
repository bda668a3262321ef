import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../../test/contract/memory-historian.ts'
import { askOne, type Json } from '../../../test/multi-harness.ts'
import { readPlant } from '../read-plant.fixture.ts'

let plant: MemoryHistorian
before(async () => {
  plant = await readPlant()
})

const ask = (type: string, tag: string, details: object = {}, call: object = {}): Promise<Json> =>
  askOne([plant], type, `plant/${tag}`, details, { call })

describe('aggregates', () => {
  const range = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T11:00:00Z' }

  test('AGGREGATED_POINTS gives all of them over [from, to)', async () => {
    const { aggregates } = await ask('AGGREGATED_POINTS', 'FLOW', range)
    const [{ timeAvg, stdDev, ...rest }] = aggregates
    assert.deepEqual(rest, {
      from: '2026-01-15T10:00:00.000Z',
      to: '2026-01-15T11:00:00.000Z',
      min: 10,
      max: 50,
      avg: 30,
      median: 30,
      variance: 400,
      first: 10,
      last: 50,
      sum: 90,
      range: 40,
      count: 4,
      numGood: 3,
      numBad: 1,
    })
    assert.equal(stdDev, 20)
    // 10 min at 20 on average, 20 min at 40, 30 min at 35.
    assert.ok(Math.abs(timeAvg - (10 * 20 + 20 * 40 + 30 * 35) / 60) < 1e-9)
  })

  test('what was not asked for is null, and names take any case', async () => {
    const { aggregates } = await ask('AGGREGATED_POINTS', 'FLOW', { ...range, aggregates: ['max', 'NUMBAD'] })
    assert.equal(aggregates[0].max, 50)
    assert.equal(aggregates[0].numBad, 1)
    assert.equal(aggregates[0].count, null)
    assert.match((await ask('AGGREGATED_POINTS', 'FLOW', { ...range, aggregates: [] })).error, /at least one/)
    assert.match((await ask('AGGREGATED_POINTS', 'FLOW', { ...range, aggregates: ['MODE'] })).error, /MEDIAN/)
  })

  test('an empty window has counts of 0 and nothing else', async () => {
    const { aggregates } = await ask('AGGREGATED_POINTS', 'EMPTY', range)
    const { from: _from, to: _to, count, numGood, numBad, ...rest } = aggregates[0]
    assert.deepEqual([count, numGood, numBad], [0, 0, 0])
    assert.ok(Object.values(rest).every((value) => value === null))
  })

  test('MULTIPLE_AGGREGATED_POINTS splits by count or by calendar interval', async () => {
    const halves = await ask('MULTIPLE_AGGREGATED_POINTS', 'FLOW', {
      ...range,
      count: 2,
      aggregates: ['COUNT'],
    })
    assert.deepEqual(
      halves.aggregates.map((window: Json) => [window.from, window.count]),
      [
        ['2026-01-15T10:00:00.000Z', 3],
        ['2026-01-15T10:30:00.000Z', 1],
      ],
    )
    const details = {
      from: '2026-01-15T10:15:00Z',
      to: '2026-01-15T11:30:00Z',
      interval: '30m',
      aggregates: ['COUNT'],
    }
    const steps = await ask('MULTIPLE_AGGREGATED_POINTS', 'FLOW', details)
    assert.deepEqual(
      steps.aggregates.map((window: Json) => `${window.from.slice(11, 16)} ${window.count}`),
      ['10:15 1', '10:30 1', '11:00 1'],
    )
    assert.match((await ask('MULTIPLE_AGGREGATED_POINTS', 'FLOW', range)).error, /count or interval/)
  })
})
