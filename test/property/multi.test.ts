import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { MemoryHistorian } from '../contract/memory-historian.ts'
import { askBody, historianOf, type Json, resultOf, type TestPoint } from '../multi-harness.ts'

let plant: MemoryHistorian
before(async () => {
  const minutes = (count: number, step: number): TestPoint[] =>
    Array.from({ length: count }, (_, i) => {
      const minute = i * step
      const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
      return i % 7 === 3 ? [time, i, 'BAD'] : [time, Math.sin(i) * 10]
    })
  plant = await historianOf('plant', {
    DENSE: { points: minutes(700, 1) },
    SPARSE: { points: minutes(12, 55) },
    STEPS: { stepped: true, points: minutes(60, 11) },
    EMPTY: { points: [] },
  })
})

const tag = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('plant/DENSE', 'plant/SPARSE', 'plant/STEPS', 'plant/EMPTY') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'calc/ADD(plant/DENSE, plant/SPARSE)',
      'calc/SUB(plant/STEPS, plant/DENSE, 1)',
      'calc/MUL(plant/DENSE, plant/STEPS)',
      'calc/DIV(plant/SPARSE, plant/SPARSE)',
      'calc/ADD(MUL(plant/SPARSE, 2), DIV(plant/STEPS, plant/EMPTY))',
      'calc/TOTALISE(plant/DENSE, 1h, BEGIN_DAY, 1h)',
      'calc/TOTALISE(plant/STEPS, DAY, BEGIN_DAY, 1h)',
      'calc/TOTALISE(ADD(plant/SPARSE, plant/DENSE), 30m, 0, 1m)',
      'calc/ADD(1, 2)',
      'calc/THRESHOLD(plant/DENSE, plant/SPARSE, 1, 0)',
      'calc/MUL(plant/STEPS, IFEQUALS(plant/DENSE, 5, plant/DENSE, constants/empty, 2))',
      'calc/TIME_THRESHOLD(2026-01-15T06:00:00Z, plant/DENSE, plant/STEPS)',
      'calc/STEPPED(ADD(plant/DENSE, plant/SPARSE))',
      'calc/STEPPEDRAW(plant/DENSE)',
      'calc/NOBAD(plant/DENSE)',
      'calc/EPOCH_MS(NOBAD(plant/DENSE))',
      'calc/TIMESHIFT(plant/DENSE, -90m)',
      'calc/TIMESHIFT(ADD(plant/DENSE, plant/STEPS), 1d)',
      'calc/TIMESHIFT(plant/SPARSE, begin of this hour)',
      'calc/SUB(plant/DENSE, POINTINTIME(plant/SPARSE, 06:00))',
      'calc/LOWPASS(plant/DENSE, 120)',
      'calc/HIGHPASS(plant/SPARSE, 3600)',
      'calc/IFTAGEXISTS(plant/NOPE, plant/SPARSE)',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('plant/NOPE', 'other/T', 'calc/ADD(', 'constants/5', '') },
)
const MIDNIGHT_MS = Date.UTC(2026, 0, 15)
const time = fc.oneof(
  fc.integer({ min: -120, max: 1600 }).map((minutes) => MIDNIGHT_MS + minutes * 60_000),
  fc.constantFrom('now', 'today', '2 hours ago', '2026-01-15T03:00:00Z'),
)
const boundary = fc.constantFrom('INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED')
const aggregates = fc.subarray(['MIN', 'AVG', 'MEDIAN', 'COUNT', 'TIMEAVG', 'LAST', 'STDDEV'], {
  minLength: 1,
})
const count = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(1000))

const request = fc.oneof(
  fc.record({
    type: fc.constant('CURRENT_POINT'),
    tag,
    details: fc.oneof(fc.constant({}), fc.record({ now: time })),
  }),
  fc.record({
    type: fc.constantFrom(
      'HISTORICAL_POINT',
      'POINT_BEFORE',
      'POINT_BEFORE_OR_AT',
      'POINT_AFTER',
      'POINT_AFTER_OR_AT',
      'ADJACENT_POINTS',
    ),
    tag,
    details: fc.record({ at: time }),
  }),
  fc.record({
    type: fc.constant('INTERPOLATED_POINTS'),
    tag,
    details: fc.record({ from: time, to: time, count }),
  }),
  fc.record({
    type: fc.constant('INTERPOLATED_POINTS'),
    tag,
    details: fc.record({ from: time, to: time, interval: fc.constantFrom('10m', '1h', '1d') }),
  }),
  fc.record({
    type: fc.constant('RAW_POINTS'),
    tag,
    details: fc.record(
      {
        from: time,
        to: time,
        maxPoints: count,
        leftBoundary: boundary,
        rightBoundary: boundary,
        order: fc.constantFrom('asc', 'desc'),
      },
      { requiredKeys: ['from', 'to'] },
    ),
  }),
  fc.record({
    type: fc.constant('AGGREGATED_POINTS'),
    tag,
    details: fc.record({ from: time, to: time, aggregates }),
  }),
  fc.record({
    type: fc.constant('MULTIPLE_AGGREGATED_POINTS'),
    tag,
    details: fc.record({ from: time, to: time, aggregates, count: fc.integer({ min: 1, max: 30 }) }),
  }),
)

describe('any call', () => {
  test('the load that explain reports is never below the points that are fetched, nor far above them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ maxLength: 3 }), request, { maxKeys: 6 }),
        async (requests) => {
          const explained = await askBody([plant], { requests, explain: true })
          const executed = await askBody([plant], { requests })
          assert.equal(explained.answer.outcome, 'explained')
          assert.equal(executed.answer.outcome, 'executed')
          const load = explained.json.explain.totals.load
          const fetched = executed.answer.statistics.points
          const labels = Object.keys(requests).length
          assert.ok(fetched <= load, `load ${load} for ${fetched} points`)
          assert.ok(load <= 8 * fetched + 2000 * labels, `load ${load} for only ${fetched} points`)
        },
      ),
      { numRuns: 1_500 },
    )
  })

  test('each label has a result or an error, never both, and an issue for each error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ maxLength: 5, unit: 'binary' }), request, { maxKeys: 4 }),
        async (requests) => {
          const { json } = await askBody([plant], { requests })
          const labels = [...Object.keys(json.results), ...Object.keys(json.errors)]
          assert.deepEqual(labels.sort(), Object.keys(requests).sort())
          assert.equal((json.issues ?? []).length, Object.keys(json.errors).length)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('pages of any raw request join to what one page gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        tag,
        time,
        time,
        boundary,
        boundary,
        fc.constantFrom('asc', 'desc'),
        fc.integer({ min: 1, max: 40 }),
        async (tagName, from, to, leftBoundary, rightBoundary, order, maxPoints) => {
          const details = { from, to, leftBoundary, rightBoundary, order }
          const ask = async (more: object): Promise<Json> => {
            const requests = { a: { type: 'RAW_POINTS', tag: tagName, details: { ...details, ...more } } }
            return resultOf((await askBody([plant], { requests })).json, 'a')
          }
          const whole = await ask({ maxPoints: 20_000 })
          if (whole === undefined) return
          const joined = []
          let page = await ask({ maxPoints })
          joined.push(...page.dataPoints)
          // A page costs two evaluations of its calculation: twenty of them show what there is to show.
          for (let pages = 1; page.next !== undefined && pages < 20; pages++) {
            page = await ask({ maxPoints, cursor: page.next })
            joined.push(...page.dataPoints)
          }
          const expected =
            page.next !== undefined ? whole.dataPoints.slice(0, joined.length) : whole.dataPoints
          assertSamePoints(joined, expected)
        },
      ),
      { numRuns: 120 },
    )
  })

  test('no JSON body makes it fail', async () => {
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ requests: fc.jsonValue() }),
      fc.record({
        requests: fc.dictionary(fc.string(), fc.jsonValue()),
        now: fc.jsonValue(),
        timeZone: fc.jsonValue(),
      }),
      fc.record({
        requests: fc.dictionary(
          fc.string(),
          fc.record({
            type: fc.constantFrom(
              'RAW_POINTS',
              'CURRENT_POINT',
              'INTERPOLATED_POINTS',
              'AGGREGATED_POINTS',
              'ADJACENT_POINTS',
            ),
            tag: fc.oneof(tag, fc.string()),
            details: fc.dictionary(
              fc.constantFrom('from', 'to', 'at', 'count', 'interval', 'aggregates', 'cursor', 'now'),
              fc.jsonValue(),
            ),
          }),
        ),
      }),
    )
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const { answer, json } = await askBody([plant], value)
        assert.ok(['executed', 'refused', 'limit'].includes(answer.outcome))
        assert.equal(typeof json.errors, 'object')
      }),
      { numRuns: 600 },
    )
  })
})

/** Totals are added up from different places on different pages: the last digits may differ, times and statuses not. */
function assertSamePoints(actual: Json[], expected: Json[]): void {
  assert.equal(actual.length, expected.length)
  actual.forEach((point, i) => {
    const { timestamp, value, status } = expected[i]
    assert.deepEqual([point.timestamp, point.status], [timestamp, status])
    if (value === null) assert.equal(point.value, null)
    else
      assert.ok(
        Math.abs(point.value - value) <= 1e-9 * Math.max(1, Math.abs(value)),
        `${point.value} is ${value}`,
      )
  })
}
