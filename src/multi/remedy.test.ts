import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { PushDownHistorian } from '../../test/contract/push-down-historian.ts'
import { askBody, fill, type Json, pointsEvery } from '../../test/multi-harness.ts'
import type { CallLimits } from './limit.ts'

const HISTORIANS = [new MemoryHistorian('plant'), new PushDownHistorian('server')]
const TAGS = { DENSE: { points: pointsEvery(1) }, HELD: { stepped: true, points: pointsEvery(1) } }
const RANGE = { from: '2026-01-15T00:00:00Z', to: '2026-01-15T13:00:00Z' }

before(async () => {
  for (const historian of HISTORIANS) await fill(historian, TAGS)
})

async function remedyOf(requests: Json, limits: Partial<CallLimits>): Promise<string> {
  const { answer, json } = await askBody(HISTORIANS, { requests }, { limits })
  assert.equal(answer.outcome, 'limit')
  const explained = await askBody(HISTORIANS, { requests, explain: true }, { limits })
  assert.deepEqual(explained.json.explain.reasons, [json.message], 'explain says the same')
  return json.message.slice(json.message.indexOf(';') + 2)
}

/** The range that a refusal offers for a label is allowed, and a good part longer is not. */
async function assertRangeOffered(requests: Json, label: string, limits: Partial<CallLimits>): Promise<void> {
  const remedy = await remedyOf(requests, limits)
  const found = /^label "(.*)" would be allowed from (\S+) to (\S+)$/.exec(remedy)
  assert.ok(found !== null, remedy)
  assert.equal(found[1], label)
  const { from } = RANGE
  const to = Date.parse(found[3]!)
  const ask = async (end: number) => {
    const details = { ...requests[label].details, from, to: end }
    const changed = { ...requests, [label]: { ...requests[label], details } }
    return (await askBody(HISTORIANS, { requests: changed }, { limits })).answer.outcome
  }
  assert.equal(await ask(to), 'executed')
  assert.equal(await ask(Date.parse(from) + (to - Date.parse(from)) * 1.1), 'limit')
}

const raw = (maxPoints: number, tag = 'plant/DENSE') => ({
  type: 'RAW_POINTS',
  tag,
  details: { ...RANGE, maxPoints },
})
const point = (tag: string) => ({ type: 'CURRENT_POINT', tag })
const interpolated = (rest: object) => ({
  type: 'INTERPOLATED_POINTS',
  tag: 'plant/DENSE',
  details: { ...RANGE, ...rest },
})

describe('a refused limit says what to do', () => {
  test('for a range with too many points: the longest one that is allowed', async () => {
    for (const tag of [
      'plant/DENSE',
      'calc/LOWPASS(server/HELD, 600)',
      'calc/TOTALISERAW(plant/DENSE, DAY, BEGIN_DAY, 1h)',
    ]) {
      const a = { type: 'AGGREGATED_POINTS', tag, details: { ...RANGE, aggregates: ['MEDIAN', 'AVG'] } }
      await assertRangeOffered({ a }, 'a', { historianLoad: 300 })
      await assertRangeOffered({ b: raw(100, 'plant/HELD'), a }, 'a', { historianLoad: 400 })
    }
    await assertRangeOffered({ a: raw(700) }, 'a', { historianLoad: 300 })
  })

  test('for intervals and gaps, too', async () => {
    const range = { type: 'INTERVALS', tag: 'calc/ADD(plant/DENSE, plant/HELD)', details: RANGE }
    const aggregated = {
      ...range.details,
      aggregatesOf: 'plant/HELD',
      maxIntervals: 10,
      aggregates: ['MEDIAN'],
    }
    const gaps = { ...range, type: 'GAPS', details: { ...RANGE, longerThan: '1h' } }
    for (const a of [range, { ...range, details: aggregated }, gaps])
      await assertRangeOffered({ a }, 'a', { historianLoad: 300 })
  })

  test('for a chart: the width that is allowed', async () => {
    const plot = (width: number) => ({ type: 'PLOT', tag: 'plant/DENSE', details: { ...RANGE, width } })
    const requests = (width: number) => ({ a: raw(99), b: plot(width) })
    const limits = { requestedPoints: 300 }
    assert.equal(await remedyOf(requests(100), limits), 'a width of at most 49 in label "b" would be allowed')
    const outcome = async (width: number) =>
      (await askBody(HISTORIANS, { requests: requests(width) }, { limits })).answer.outcome
    assert.equal(await outcome(49), 'executed')
    assert.equal(await outcome(50), 'limit')
    assert.equal(await remedyOf({ a: raw(299), b: plot(100) }, limits), 'without "b" it would be allowed')
  })

  test('for a chart that is interpolated: the width that is allowed, as no range changes its points', async () => {
    const plot = (width: number) => ({
      type: 'PLOT',
      tag: 'siggen/sin1@60',
      details: { from: '1900-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z', width, fallback: 'interpolated' },
    })
    const limits = { requestedPoints: 1_000 }
    const remedy = 'a width of at most 249 in label "a" would be allowed'
    assert.equal(await remedyOf({ a: plot(300) }, limits), remedy)
    const { answer, json } = await askBody(HISTORIANS, { requests: { a: plot(249) } }, { limits })
    assert.equal(answer.outcome, 'executed')
    assert.equal(json.results.a.sampled, 'interpolated')
  })

  test('for steps and windows of an interval: the longest range; of a count: the largest one', async () => {
    const b = interpolated({ interval: '1m' })
    await assertRangeOffered({ a: raw(100), b }, 'b', { requestedPoints: 300 })
    const windows = { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'plant/DENSE' }
    const cut = { ...windows, details: { ...RANGE, interval: '1m' } }
    await assertRangeOffered({ a: cut }, 'a', { aggregateWindows: 300 })
    const counted = { ...windows, details: { ...RANGE, count: 500 } }
    assert.equal(
      await remedyOf({ a: counted }, { aggregateWindows: 300 }),
      'at most 300 windows in label "a" would be allowed',
    )
    assert.equal(
      await remedyOf({ a: raw(500), b: raw(200) }, { requestedPoints: 300 }),
      'at most 100 points in label "a" would be allowed',
    )
  })

  test('the labels to leave out, or how many calls to make of them', async () => {
    const requests = { a: point('calc/ADD(plant/DENSE, plant/HELD)'), 'b"': point('server/DENSE') }
    assert.equal(await remedyOf(requests, { effectiveTags: 2 }), 'without "a" it would be allowed')
    assert.equal(
      await remedyOf({ a: requests.a }, { effectiveTags: 1 }),
      'label "a" alone needs 2: leave some of them out',
    )
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`l${i}`, interpolated({ count: 10 + i })]),
    )
    assert.equal(await remedyOf(many, { requestedPoints: 200 }), 'send its labels in at least 9 calls')
    const { json } = await askBody(HISTORIANS, { requests: many }, { limits: { requestedPoints: 20 } })
    assert.match(json.message, /; send its labels in at least 3 calls$/)
  })

  test('the calculation, where it needs more however short its range is', async () => {
    const at = { at: '2026-01-15T12:00:00Z' }
    const a = { type: 'HISTORICAL_POINT', tag: 'calc/LOWPASS(plant/DENSE, 6000)', details: at }
    assert.match(await remedyOf({ a }, { historianLoad: 100 }), /^label "a" needs them whatever its range is/)
  })
})
