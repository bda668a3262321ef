import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../../test/contract/memory-historian.ts'
import { askOne, historianOf, type Json, show } from '../../../test/multi-harness.ts'
import { readPlant } from '../read-plant.fixture.ts'

let plant: MemoryHistorian
before(async () => {
  plant = await readPlant()
})

const ask = (type: string, tag: string, details: object = {}, call: object = {}): Promise<Json> =>
  askOne([plant], type, `plant/${tag}`, details, { call })

describe('RAW_POINTS', () => {
  const raw = async (from: string, to: string, details: object = {}, tag = 'FLOW') => {
    const range = { from: `2026-01-15T${from}:00Z`, to: `2026-01-15T${to}:00Z` }
    return ask('RAW_POINTS', tag, { ...range, ...details })
  }

  test('gives [from, to) in time order with statuses', async () => {
    const { dataPoints, next } = await raw('10:00', '10:30')
    assert.deepEqual(show(dataPoints), ['10:00 10', '10:10 30', '10:20 99 BAD'])
    assert.equal(next, undefined)
  })

  test('boundaries include, exclude, reach out or interpolate', async () => {
    const shown = async (from: string, to: string, left: string, right: string, tag = 'FLOW') =>
      show((await raw(from, to, { leftBoundary: left, rightBoundary: right }, tag)).dataPoints)
    const inner = '10:10 30'
    assert.deepEqual(await shown('10:00', '10:20', 'INCLUDE', 'INCLUDE'), ['10:00 10', inner, '10:20 99 BAD'])
    assert.deepEqual(await shown('10:00', '10:20', 'EXCLUDE', 'EXCLUDE'), [inner])
    assert.deepEqual(await shown('10:05', '10:15', 'NEAREST', 'NEAREST'), ['10:00 10', inner, '10:20 99 BAD'])
    assert.deepEqual(await shown('10:00', '10:20', 'NEAREST', 'NEAREST'), ['10:00 10', inner, '10:20 99 BAD'])
    assert.deepEqual(await shown('10:05', '10:15', 'INTERPOLATED', 'INTERPOLATED'), [
      '10:05 20',
      inner,
      '10:15 35',
    ])
    assert.deepEqual(await shown('10:00', '10:20', 'INTERPOLATED', 'INTERPOLATED'), [
      '10:00 10',
      inner,
      '10:20 99 BAD',
    ])
    assert.deepEqual(await shown('09:00', '10:00', 'INTERPOLATED', 'INTERPOLATED'), ['10:00 10'])
    assert.deepEqual(await shown('11:30', '11:40', 'NEAREST', 'NEAREST'), ['11:00 20'])
    assert.deepEqual(await shown('10:05', '10:10', 'INTERPOLATED', 'EXCLUDE', 'VALVE'), ['10:05 0'])
  })

  test('desc gives the newest first, and maxPoints the last ones of the range', async () => {
    const { dataPoints, next } = await raw('10:00', '12:00', { order: 'desc', maxPoints: 2 })
    assert.deepEqual(show(dataPoints), ['11:00 20', '10:30 50'])
    assert.equal(typeof next, 'string')
    const reached = await raw('10:05', '10:15', {
      order: 'desc',
      leftBoundary: 'NEAREST',
      rightBoundary: 'INTERPOLATED',
    })
    assert.deepEqual(show(reached.dataPoints), ['10:15 35', '10:10 30', '10:00 10'])
  })

  for (const order of ['asc', 'desc']) {
    for (const [left, right] of [
      ['INCLUDE', 'EXCLUDE'],
      ['NEAREST', 'NEAREST'],
      ['INTERPOLATED', 'INTERPOLATED'],
    ]) {
      test(`pages join without gap or repeat: ${order}, ${left} and ${right}`, async () => {
        for (const tag of ['plant/FLOW', 'calc/ADD(plant/FLOW, plant/VALVE)']) {
          const details = {
            from: '2026-01-15T10:05:00Z',
            to: '2026-01-15T10:45:00Z',
            leftBoundary: left,
            rightBoundary: right,
            order,
          }
          const whole = await askOne([plant], 'RAW_POINTS', tag, details)
          assert.ok(whole.dataPoints.length >= 3)
          for (const maxPoints of [1, 2, 3]) {
            const pages: string[] = []
            let cursor: string | undefined
            do {
              const page = await askOne([plant], 'RAW_POINTS', tag, {
                ...(cursor ? { cursor } : details),
                maxPoints,
              })
              assert.ok(page.dataPoints.length >= 1 && page.dataPoints.length <= maxPoints)
              pages.push(...show(page.dataPoints))
              cursor = page.next
            } while (cursor !== undefined)
            assert.deepEqual(pages, show(whole.dataPoints))
          }
        }
      })
    }
  }

  test('a cursor goes on after the last point given while others write', async () => {
    const moving = await historianOf('moving', {
      T: {
        points: [
          ['10:00', 1],
          ['10:10', 2],
          ['10:20', 3],
        ],
      },
    })
    const details = {
      from: '2026-01-15T09:00:00Z',
      to: '2026-01-15T11:00:00Z',
      maxPoints: 2,
      leftBoundary: 'NEAREST',
    }
    const first = await askOne([moving], 'RAW_POINTS', 'moving/T', details)
    const written = await historianOf('moving', {
      T: {
        points: [
          ['09:30', 0],
          ['10:00', 1],
          ['10:05', 8],
          ['10:10', 2],
          ['10:15', 9],
          ['10:20', 3],
        ],
      },
    })
    const second = await askOne([written], 'RAW_POINTS', 'moving/T', { ...details, cursor: first.next })
    assert.deepEqual(show(first.dataPoints), ['10:00 1', '10:10 2'])
    assert.deepEqual(show(second.dataPoints), ['10:15 9', '10:20 3'])
  })

  test('a cursor that is made up, cut or of another tag is refused', async () => {
    const { next } = await raw('10:00', '12:00', { maxPoints: 1 })
    assert.equal((await ask('RAW_POINTS', 'VALVE', { cursor: next })).error, 'Invalid cursor')
    const wrong = ['', 'x', next.slice(1), `${next}A`, Buffer.from('[1,2]').toString('base64url')]
    for (const cursor of wrong)
      assert.equal((await ask('RAW_POINTS', 'FLOW', { cursor })).error, 'Invalid cursor')
  })
})
