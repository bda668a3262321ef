import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askOne, historianOf, type Json, show, type TestTag } from '../../../test/multi-harness.ts'

const TAGS: Readonly<Record<string, TestTag>> = {
  LEVEL: {
    points: [1, 2, 3, 9, 9.5, 4, 3, 2].map((value, i) => [`10:0${i}`, value] as const),
  },
}
const RANGE = { from: '2026-01-15T10:00Z', to: '2026-01-15T11:00Z' }

const ask = async (details: object, tag = 'plant/LEVEL'): Promise<Json> =>
  askOne([await historianOf('plant', TAGS)], 'RAW_POINTS', tag, { ...RANGE, ...details })

// The one of docs/multi.md.
const DECIDING = ['10:00 1', '10:02 3', '10:03 9', '10:04 9.5', '10:05 4', '10:07 2']

test('points that make no difference to a comparison are left out', async () => {
  const { dataPoints } = await ask({ compared: { thresholds: [8] } })
  assert.deepEqual(show(dataPoints), DECIDING)
  const { dataPoints: backwards } = await ask({ compared: { thresholds: [8] }, order: 'desc' })
  assert.deepEqual(show(backwards), DECIDING.toReversed())
  const { dataPoints: near } = await ask({ compared: { thresholds: [8], maxGap: '119s' } })
  assert.equal(near.length, 8)
})

test('pages go on with their cursor, without gap or repeat', async () => {
  const compared = { thresholds: [100] }
  const first = await ask({ compared, maxPoints: 4 })
  assert.deepEqual(show(first.dataPoints), ['10:00 1', '10:03 9'])
  const second = await ask({ compared, maxPoints: 4, cursor: first.next })
  assert.deepEqual(show(second.dataPoints), ['10:04 9.5', '10:07 2'])
  assert.equal(second.next, undefined)
})

test('of a calculation all points are given', async () => {
  const { dataPoints } = await ask({ compared: { thresholds: [8] } }, 'calc/ADD(plant/LEVEL, 0)')
  assert.equal(dataPoints.length, 8)
})

test('what cannot be compared with is refused with what would be right', async () => {
  for (const compared of [
    5,
    [],
    {},
    { thresholds: [] },
    { thresholds: 8 },
    { thresholds: ['8'] },
    { thresholds: [null] },
  ]) {
    assert.match((await ask({ compared })).error, /compared/, JSON.stringify(compared))
  }
  const many = { thresholds: Array.from({ length: 1_001 }, (_, i) => i) }
  assert.match((await ask({ compared: many })).error, /1 to 1000 numbers/)
  for (const maxGap of ['soon', 0, -1, '1mo', []]) {
    assert.match((await ask({ compared: { thresholds: [8], maxGap } })).error, /maxGap/, `${maxGap}`)
  }
  const details = { compared: { thresholds: [8] }, last: 3 }
  const { error } = await askOne([await historianOf('plant', TAGS)], 'RAW_POINTS', 'plant/LEVEL', details)
  assert.match(error, /either last or compared, not both/)
})
