import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, historianOf } from '../../test/multi-harness.ts'
import type { Historian } from '../historian/contract.ts'
import { countingReads, readPlant, wrap } from './read-plant.fixture.ts'

let plant: MemoryHistorian
before(async () => {
  plant = await readPlant()
})

describe('limits', () => {
  const raw = (maxPoints?: number, tag = 'plant/FLOW') => ({
    type: 'RAW_POINTS',
    tag,
    details: { from: '2026-01-15T00:00:00Z', to: 'now', ...(maxPoints === undefined ? {} : { maxPoints }) },
  })

  const breach = async (limits: object, requests: object) => {
    const { answer, json } = await askBody([plant], { requests }, { limits })
    assert.equal(answer.outcome, 'limit')
    assert.deepEqual(json.results, {})
    for (const label of Object.keys(requests)) assert.equal(json.errors[label], json.message)
    assert.equal(json.issues.length, Object.keys(requests).length)
    return json.message
  }

  test('requested points count maxPoints and count, with their defaults', async () => {
    const message = await breach({ requestedPoints: 1999 }, { a: raw(), b: raw(1000, 'plant/VALVE') })
    assert.equal(
      message,
      'The requested points limit is 1999, and this call requests 2000 points; at most 999 points in label "a" would be allowed',
    )
    const { answer } = await askBody(
      [plant],
      { requests: { a: raw(), b: raw(1000) } },
      { limits: { requestedPoints: 2000 } },
    )
    assert.equal(answer.outcome, 'executed')
  })

  test('a count beyond all sense is refused before anything is made for it', async () => {
    const details = { from: '2026-01-01', to: '2026-01-02', count: Number.MAX_SAFE_INTEGER }
    await breach({}, { a: { type: 'INTERPOLATED_POINTS', tag: 'plant/FLOW', details } })
    const steps = { from: '1700-01-01', to: '2199-01-01', interval: '1ms' }
    await breach({}, { a: { type: 'INTERPOLATED_POINTS', tag: 'plant/FLOW', details: steps } })
    await breach({}, { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'plant/FLOW', details: steps } })
  })

  test('effective tags are distinct stored tags over all labels', async () => {
    const a = { type: 'CURRENT_POINT', tag: 'calc/ADD(plant/FLOW, calc/SUB(plant/VALVE, plant/LATER), 1)' }
    const b = { type: 'CURRENT_POINT', tag: 'plant/FLOW' }
    assert.match(
      await breach({ effectiveTags: 2 }, { a, b }),
      /effective tags limit is 2, and this call needs 3 tags/,
    )
    const { answer } = await askBody([plant], { requests: { a, b } }, { limits: { effectiveTags: 3 } })
    assert.equal(answer.outcome, 'executed')
  })

  test('historian load is what will be fetched, not what could be asked for', async () => {
    const { answer } = await askBody(
      [plant],
      { requests: { a: raw(90_000) } },
      { limits: { historianLoad: 20 } },
    )
    assert.equal(answer.outcome, 'executed')
    assert.match(await breach({ historianLoad: 3 }, { a: raw(90_000) }), /historian load limit is 3 points/)
  })

  test('when only MEDIAN breaks the load, the sentence says so', async () => {
    const many = await historianOf('plant', {
      FLOW: {
        points: Array.from({ length: 50 }, (_, i) => [`10:${String(i).padStart(2, '0')}`, i] as const),
      },
    })
    const pushing = withAggregates(many)
    const details = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T11:00:00Z' }
    const requests = { a: { type: 'AGGREGATED_POINTS', tag: 'plant/FLOW', details } }
    const { json } = await askBody([pushing], { requests }, { limits: { historianLoad: 20 } })
    assert.match(json.message, /without MEDIAN it would be allowed/)
  })

  test('explain says what a call needs, allowed or not, and fetches nothing', async () => {
    const watched = countingReads(plant)
    const requests = {
      a: raw(1000),
      b: { type: 'CURRENT_POINT', tag: 'calc/ADD(plant/FLOW, plant/VALVE)' },
      wrong: { type: 'CURRENT_POINT', tag: 'plant/NOPE' },
    }
    const { answer, json } = await askBody(
      [watched.historian],
      { explain: true, requests },
      { limits: { historianLoad: 3 } },
    )
    assert.equal(answer.outcome, 'explained')
    assert.deepEqual(json.results, {})
    assert.equal(json.errors.wrong, 'Tag plant/NOPE does not exist')
    const { explain } = json
    assert.equal(explain.allowed, false)
    assert.equal(explain.reasons.length, 1)
    assert.deepEqual(explain.requests.b.tags, ['plant/FLOW', 'plant/VALVE'])
    assert.equal(explain.requests.a.requestedPoints, 1000)
    assert.ok(explain.requests.a.load >= 4 && explain.requests.a.load <= 20)
    assert.equal(explain.totals.effectiveTags, 2)
    assert.equal(explain.limits.load, 3)
    assert.equal(watched.reads(), 0)
  })
})

/** Declares every aggregate but MEDIAN as pushed down; only planned with, never read. */
function withAggregates(historian: Historian): Historian {
  const aggregates = ['min', 'max', 'avg', 'variance', 'stdDev', 'first', 'last', 'sum', 'range'] as const
  const counts = ['count', 'numGood', 'numBad', 'timeAvg'] as const
  return wrap(historian, {
    capabilities: { ...historian.capabilities, aggregates: [...aggregates, ...counts] },
  })
}
