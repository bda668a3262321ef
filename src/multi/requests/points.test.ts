import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../../test/contract/memory-historian.ts'
import { askOne, type Json, show, showPoint } from '../../../test/multi-harness.ts'
import { readPlant } from '../read-plant.fixture.ts'

let plant: MemoryHistorian
before(async () => {
  plant = await readPlant()
})

const ask = (type: string, tag: string, details: object = {}, call: object = {}): Promise<Json> =>
  askOne([plant], type, `plant/${tag}`, details, { call })

describe('single points', () => {
  test('CURRENT_POINT is the last point at or before now, and strictly before `now` of the details', async () => {
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW')).dataPoint), '11:00 20')
    assert.equal(showPoint((await ask('CURRENT_POINT', 'LATER')).dataPoint), '11:00 1')
    const call = { now: '2026-01-15T11:00:00Z' }
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW', {}, call)).dataPoint), '11:00 20')
    const strictly = { now: '2026-01-15T11:00:00Z' }
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW', strictly)).dataPoint), '10:30 50')
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW', { now: null })).dataPoint), '11:00 20')
  })

  test('CURRENT_POINT gives a BAD point with its status', async () => {
    const bad = await ask('CURRENT_POINT', 'FLOW', {}, { now: '2026-01-15T10:25:00Z' })
    assert.equal(showPoint(bad.dataPoint), '10:20 99 BAD')
  })

  test('a point that does not exist is null and BAD at the time asked for', async () => {
    assert.equal(showPoint((await ask('CURRENT_POINT', 'EMPTY')).dataPoint), '12:00 null BAD')
    assert.equal(
      showPoint((await ask('POINT_BEFORE', 'FLOW', { at: '2026-01-15T10:00:00Z' })).dataPoint),
      '10:00 null BAD',
    )
  })

  const at = (type: string, time: string, tag = 'FLOW') => ask(type, tag, { at: `2026-01-15T${time}:00Z` })

  test('HISTORICAL_POINT interpolates linear tags, holds stepped ones, and leaves BAD points out', async () => {
    assert.equal(showPoint((await at('HISTORICAL_POINT', '10:05')).dataPoint), '10:05 20')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '10:20')).dataPoint), '10:20 40')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '10:14', 'VALVE')).dataPoint), '10:14 0')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '09:59')).dataPoint), '09:59 null BAD')
  })

  test('the last good point holds up to now, and points after now are seen and interpolated between', async () => {
    assert.equal(showPoint((await at('HISTORICAL_POINT', '12:00')).dataPoint), '12:00 20')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '12:01')).dataPoint), '12:01 null BAD')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '13:00', 'LATER')).dataPoint), '13:00 3')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '14:01', 'LATER')).dataPoint), '14:01 null BAD')
  })

  test('the four POINT types find raw points, BAD ones too', async () => {
    assert.equal(showPoint((await at('POINT_BEFORE', '10:20')).dataPoint), '10:10 30')
    assert.equal(showPoint((await at('POINT_BEFORE_OR_AT', '10:20')).dataPoint), '10:20 99 BAD')
    assert.equal(showPoint((await at('POINT_AFTER', '10:20')).dataPoint), '10:30 50')
    assert.equal(showPoint((await at('POINT_AFTER_OR_AT', '10:20')).dataPoint), '10:20 99 BAD')
    assert.equal(showPoint((await at('POINT_AFTER', '09:00')).dataPoint), '10:00 10')
  })

  test('ADJACENT_POINTS has the raw point or the interpolated value at its time, null where there is none', async () => {
    const shown = async (time: string) => {
      const { before, at: exact, after } = await at('ADJACENT_POINTS', time)
      return [before, exact, after].map(showPoint)
    }
    assert.deepEqual(await shown('10:05'), ['10:00 10', '10:05 20', '10:10 30'])
    assert.deepEqual(await shown('10:10'), ['10:00 10', '10:10 30', '10:20 99 BAD'])
    assert.deepEqual(await shown('09:00'), ['none', 'none', '10:00 10'])
    assert.deepEqual(await shown('11:30'), ['11:00 20', '11:30 20', 'none'])
  })
})

describe('INTERPOLATED_POINTS', () => {
  const range = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T10:20:00Z' }

  test('gives exactly count points, the first at from and the last at to', async () => {
    const { dataPoints } = await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, count: 5 })
    assert.deepEqual(show(dataPoints), ['10:00 10', '10:05 20', '10:10 30', '10:15 35', '10:20 40'])
  })

  test('count 1 gives from, also where from is to', async () => {
    const one = await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, count: 1 })
    assert.deepEqual(show(one.dataPoints), ['10:00 10'])
    const same = await ask('INTERPOLATED_POINTS', 'FLOW', { from: range.from, to: range.from, count: 1 })
    assert.deepEqual(show(same.dataPoints), ['10:00 10'])
    assert.match(
      (await ask('INTERPOLATED_POINTS', 'FLOW', { from: range.from, to: range.from })).error,
      /before to/,
    )
  })

  test('an interval gives from and every whole step up to and including to', async () => {
    const { dataPoints } = await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, interval: '10m' })
    assert.deepEqual(show(dataPoints), ['10:00 10', '10:10 30', '10:20 40'])
    assert.match(
      (await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, interval: '10m', count: 3 })).error,
      /not both/,
    )
    assert.match((await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, interval: '0s' })).error, /above zero/)
  })

  test('more points than the range has microseconds repeat instants', async () => {
    const details = { from: '2026-01-15T10:00:00.000000Z', to: '2026-01-15T10:00:00.000002Z', count: 5 }
    const { dataPoints } = await ask('INTERPOLATED_POINTS', 'FLOW', details)
    assert.equal(dataPoints.length, 5)
    assert.equal(dataPoints[0].timestamp, '2026-01-15T10:00:00.000Z')
    assert.equal(dataPoints[4].timestamp, '2026-01-15T10:00:00.000002Z')
    assert.ok(dataPoints.every((point: Json) => point.status === 'OK'))
  })
})
