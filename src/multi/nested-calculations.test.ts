import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, historianOf, pointsEvery, type TestPoint } from '../../test/multi-harness.ts'

let plant: MemoryHistorian
before(async () => {
  const points: TestPoint[] = Array.from({ length: 600 }, (_, i) => [
    `${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`,
    i % 7,
  ])
  plant = await historianOf('plant', { FLOW: { points } })
})

/** A function around itself so many times, over a tag. */
function nested(times: number, around: (inner: string) => string, tag: string): string {
  let calculation = tag
  for (let i = 0; i < times; i++) calculation = around(calculation)
  return `calc/${calculation}`
}

const range = { from: '2026-01-15T01:00:00Z', to: '2026-01-15T09:00:00Z' }
const at = '2026-01-15T06:00:30Z'
const REQUESTS = [
  { type: 'CURRENT_POINT', details: {} },
  { type: 'HISTORICAL_POINT', details: { at } },
  { type: 'POINT_BEFORE', details: { at } },
  { type: 'ADJACENT_POINTS', details: { at } },
  { type: 'INTERPOLATED_POINTS', details: { ...range, count: 5 } },
  { type: 'RAW_POINTS', details: { ...range, maxPoints: 5 } },
  { type: 'AGGREGATED_POINTS', details: range },
]

describe('nested calculations are answered, or refused with the sentence of a limit', () => {
  const cases: readonly (readonly [name: string, times: number, around: (inner: string) => string])[] = [
    ['SLIDINGAGG DIFF', 45, (x) => `SLIDINGAGG(${x}, DIFF, 1h)`],
    ['SLIDINGAGG AVG', 45, (x) => `SLIDINGAGG(${x}, AVG, 1h)`],
    ['SLIDINGAGG MAX', 45, (x) => `SLIDINGAGG(${x}, MAX, 1h)`],
    ['HIGHPASS', 45, (x) => `HIGHPASS(${x}, 60)`],
    ['LOWPASS', 45, (x) => `LOWPASS(${x}, 60)`],
    ['TOTALISE', 45, (x) => `TOTALISE(${x}, DAY, BEGIN_DAY, 1h)`],
    ['EPOCH_MS', 45, (x) => `EPOCH_MS(${x})`],
    ['WINDOWAGG', 45, (x) => `WINDOWAGG(${x}, AVG, 1h)`],
    ['THRESHOLD with constant branches', 40, (x) => `THRESHOLD(${x}, 1, 2, 0)`],
    ['THRESHOLD with a nested branch', 40, (x) => `THRESHOLD(plant/FLOW, 3, ${x}, siggen/sin1@3600)`],
    ['THRESHOLD with three branches', 5, (x) => `THRESHOLD(${x}, 1, ${x}, ${x})`],
  ]
  for (const [name, times, around] of cases) {
    test(`${name}, ${times} times`, async () => {
      for (const { type, details } of REQUESTS) {
        // Of siggen with a long period, so that its generated points are no limit.
        for (const tag of ['plant/FLOW', 'siggen/sin1@360000']) {
          const requests = { a: { type, tag: nested(times, around, tag), details } }
          const { answer, json } = await askBody([plant], { requests }, { limits: { deadlineSeconds: 1 } })
          const { code } = json.issues?.[0] ?? { code: 'none' }
          const expected = [
            'none',
            'LIMIT_EVALUATED_VALUES',
            'LIMIT_HISTORIAN_LOAD',
            'LIMIT_GENERATED_POINTS',
            // What looks at its input at further times at every level takes long, and keeps nobody waiting.
            'DEADLINE_EXCEEDED',
          ]
          assert.ok(expected.includes(code), `${type} of ${tag}: ${answer.outcome} ${code}`)
        }
      }
    })
  }

  test('a value that two ways lead to is worked out once', async () => {
    const around = (x: string) => `SLIDINGAGG(${x}, DIFF, 1h)`
    for (const tag of ['plant/FLOW', 'siggen/sin1@360000']) {
      const requests = { a: { type: 'HISTORICAL_POINT', tag: nested(45, around, tag), details: { at } } }
      const { json } = await askBody([plant], { requests })
      assert.deepEqual(json.errors, {})
    }
  })

  test('the greatest of the greatest reads its input once at each level', async () => {
    for (const { type, details } of REQUESTS) {
      const tag = nested(20, (x) => `SLIDINGAGG(${x}, MAX, 7m)`, 'plant/FLOW')
      const { answer, json } = await askBody([plant], { requests: { a: { type, tag, details } } })
      assert.equal(answer.outcome, 'executed', json.message)
      assert.ok(answer.statistics.points < 2_000, `${type}: ${answer.statistics.points} fetched`)
    }
  })

  test('the greatest of the greatest of rare points is worked out once for each time', async () => {
    const requests = {
      a: {
        type: 'AGGREGATED_POINTS',
        tag: nested(24, (x) => `SLIDINGAGG(${x}, MAX, 7m)`, 'dates/DAY_UTC'),
        details: range,
      },
    }
    const { answer, json } = await askBody([plant], { requests })
    assert.equal(answer.outcome, 'executed', json.message)
  })

  test('a search for a good point among endless points without a value fails its label alone', async () => {
    const requests = {
      // FLOOR has no value for 0, and MAX has one without it: all raw points are BAD.
      endless: {
        type: 'HISTORICAL_POINT',
        tag: 'calc/STEPPED(MAX(3, FLOOR(siggen/sin1@600, 0)))',
        details: { at },
      },
      beside: { type: 'HISTORICAL_POINT', tag: 'plant/FLOW', details: { at } },
    }
    const { json } = await askBody([plant], { requests })
    assert.deepEqual(Object.keys(json.results), ['beside'], JSON.stringify(json))
    assert.equal(json.issues[0].code, 'LIMIT_PASSED_POINTS')
    assert.match(json.errors.endless, /more than 1000000 raw points without a value in a row, after 2026-/)
  })

  test('four filters inside each other are not refused for what they do not fetch', async () => {
    const tag = nested(4, (x) => `LOWPASS(${x}, 60)`, 'plant/FLOW')
    for (const { type, details } of REQUESTS) {
      const { json } = await askBody(
        [plant],
        { requests: { a: { type, tag, details } } },
        { limits: { historianLoad: 5_000 } },
      )
      assert.deepEqual(json.errors, {}, type)
    }
  })
})

test('windows inside each other, as deep as may be, are estimated at what they fetch', async () => {
  const plant = await historianOf('plant', { FLOW: { points: pointsEvery(1) } })
  const tag = `calc/${'WINDOWAGG('.repeat(50)}plant/FLOW${', AVG, 10m)'.repeat(50)}`
  const range = { from: '2026-01-15T06:00:00Z', to: '2026-01-15T08:00:00Z' }
  for (const [type, details] of [
    ['HISTORICAL_POINT', { at: range.to }],
    ['RAW_POINTS', { ...range, maxPoints: 100 }],
    ['AGGREGATED_POINTS', range],
  ] as const) {
    const requests = { a: { type, tag, details } }
    const { json } = await askBody([plant], { requests, explain: true })
    const { answer } = await askBody([plant], { requests })
    const [estimated, fetched] = [json.explain.totals.load, answer.statistics.points]
    assert.ok(
      fetched > 0 && fetched <= estimated && estimated <= 3 * fetched,
      `${type}: ${estimated}, ${fetched}`,
    )
  }
})
