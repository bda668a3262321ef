import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { US_PER_SECOND } from '../../../src/time/instant.ts'
import { askBody, type Json } from '../../multi-harness.ts'
import { assertSame, bothWays, range, START, seriesOf, step, timeText } from './both-ways.ts'

/** When a condition held, through the driver, against the same requests of the other instance itself. */

const { ask, historian, makeTag, recording } = await bothWays()
const STATES = { '-1': 'Back', '0': 'Off', '1': 'On', '2.5': 'Never' }

const condition = fc.constantFrom(
  (tag: string) => tag,
  (tag: string) => `calc/THRESHOLD(${tag}, 1, 1, 0)`,
  (tag: string) => `calc/THRESHOLD(0.5, ${tag}, 1, 0)`,
  (tag: string) => `calc/IFEQUALS(${tag}, 2, 1, 0, 0.5)`,
  (tag: string) => `calc/THRESHOLD(calc/MAXGAP(${tag}, 5min), -1, 1, 0)`,
  (tag: string) => `calc/THRESHOLD(calc/MUL(calc/NOBAD(${tag}), -2), 3, 1, 0)`,
  (tag: string) => `calc/THRESHOLD(calc/TIMESHIFT(${tag}, -10min), 1, 1, 0)`,
  (tag: string) => `calc/MUL(calc/THRESHOLD(${tag}, 1, 1, 0), calc/THRESHOLD(${tag}, 3, 0, 1))`,
)

const intervals = fc
  .tuple(
    range,
    condition,
    fc.constantFrom({}, {}, { maxGap: '1min' }, { maxGap: '10min' }),
    fc.constantFrom({}, { minDuration: '5min' }, { mergeWithin: '90s' }, { maxIntervals: 2 }),
  )
  .map(([ends, wrap, gap, more]) => ({ type: 'INTERVALS', wrap, details: { ...ends, ...gap, ...more } }))

const durations = fc.tuple(range, condition, fc.integer({ min: 1, max: 5 })).map(([ends, wrap, count]) => ({
  type: 'MULTIPLE_AGGREGATED_POINTS',
  wrap,
  details: { ...ends, count, aggregates: ['DURATIONNONZERO', 'DURATIONZERO', 'TIMEAVG'] },
}))

const states = range.map((ends) => ({
  type: 'AGGREGATED_POINTS',
  wrap: (tag: string) => tag,
  details: { ...ends, aggregates: ['STATES'] },
}))

const aggregatesOf = range.map((ends) => ({
  type: 'INTERVALS',
  wrap: (tag: string) => `calc/THRESHOLD(${tag}, 0, 1, 0)`,
  details: { ...ends, aggregates: ['MAX', 'TIMEAVG', 'COUNT'] },
}))

describe('comparisons through the driver', () => {
  for (const [kind, metadata] of [
    ['linear', { stepped: false }],
    ['stepped', { stepped: true }],
    ['of a tag with states', { stepped: true, states: STATES }],
  ] as const) {
    test(`are those of the tag read directly, ${kind}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 300 }),
          fc.constantFrom(null, '1min', '5min', '2h'),
          fc.array(fc.oneof(intervals, intervals, durations, states, aggregatesOf), {
            minLength: 4,
            maxLength: 9,
          }),
          async (steps, maxGap, asked) => {
            const tag = await makeTag({ ...metadata, maxGap }, seriesOf(steps))
            const { direct, through } = await ask((historian) =>
              asked.map(({ type, wrap, details }) => {
                const address = `${historian}/${tag}`
                const other = type === 'INTERVALS' && 'aggregates' in details
                return {
                  type,
                  tag: wrap(address),
                  details: { ...details, ...(other && { aggregatesOf: address }) },
                }
              }),
            )
            assert.deepEqual(Object.keys(through.errors), Object.keys(direct.errors))
            assertSame(through.results, direct.results, 'results')
            assert.deepEqual(Object.keys(through.next ?? {}), Object.keys(direct.next ?? {}))
          },
        ),
        { numRuns: 60 },
      )
    })
  }

  const ends = { from: timeText(START), to: timeText(START + 90_000 * US_PER_SECOND) }
  const aggregates = ['DURATIONNONZERO', 'TIMEAVG']
  const asked: readonly (readonly [
    title: string,
    type: string,
    wrap: (tag: string) => string,
    details: object,
  ])[] = [
    ['intervals of a tag', 'INTERVALS', (tag) => tag, {}],
    [
      'intervals of a condition',
      'INTERVALS',
      (tag) => `calc/THRESHOLD(${tag}, 40, 1, 0)`,
      { minDuration: '10s' },
    ],
    ['the same with maxGap', 'INTERVALS', (tag) => `calc/THRESHOLD(${tag}, 40, 1, 0)`, { maxGap: '1min' }],
    [
      'run hours',
      'MULTIPLE_AGGREGATED_POINTS',
      (tag) => `calc/THRESHOLD(${tag}, 40, 1, 0)`,
      { count: 3, aggregates },
    ],
    ['times of states', 'AGGREGATED_POINTS', (tag) => tag, { aggregates: ['STATES'] }],
  ]
  for (const [title, type, wrap, details] of asked) {
    test(`few raw points are transferred for ${title}, and no more than were estimated`, async () => {
      // A slow swing of 40,000 points, which is 0 for a while, crosses 40 some thirty times and has one gap.
      const steps = Array.from({ length: 40_000 }, (_, i) => ({
        seconds: i === 20_000 ? 600 : 2,
        value: i % 9_000 < 2_000 ? 0 : Math.round(500 + 480 * Math.sin(i / 430)) / 10,
        bad: i % 13_000 === 5_000,
      }))
      const metadata =
        type === 'AGGREGATED_POINTS' ? { stepped: true, states: { '0': 'Off', '98': 'Full' } } : {}
      const tag = await makeTag(metadata, seriesOf(steps))
      const { direct, through } = await ask((historian) => [
        { type, tag: wrap(`${historian}/${tag}`), details: { ...ends, ...details } },
      ])
      assert.deepEqual(direct.errors, {})
      assertSame(through.results, direct.results, 'results')
      const transferred = recording.rawPoints()
      assert.ok(transferred < 4_000, `${transferred} raw points for ${title}`)
      const { explain } = await explained(type, wrap(`site/${tag}`), { ...ends, ...details })
      assert.ok(explain.totals.load >= transferred, `${explain.totals.load} estimated`)
    })
  }
})

async function explained(type: string, tag: string, details: object): Promise<Json> {
  const { json } = await askBody([historian], { explain: true, requests: { a: { type, tag, details } } })
  return json
}
