import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { US_PER_SECOND } from '../../../src/time/instant.ts'
import { assertSame, bothWays, range, START, seriesOf, step, timeText } from './both-ways.ts'

/** Requests of signals with gaps through the driver, against the same requests of the other instance itself. */

const { ask, makeTag, recording } = await bothWays()

const SIGNAL_AGGREGATES = [
  ...['TIMEAVG', 'TOTAL', 'INCREASE', 'STARTBOUND', 'ENDBOUND', 'DELTABOUNDS', 'COVERAGE'],
  ...['DURATIONZERO', 'DURATIONNONZERO', 'MIN', 'COUNT', 'DURATIONGOOD', 'DURATIONBAD', 'NUMTRANSITIONS'],
]

const request = fc.oneof(
  range.map(({ from }) => ({ type: 'HISTORICAL_POINT', details: { at: from } })),
  range.map((ends) => ({ type: 'INTERPOLATED_POINTS', details: { ...ends, count: 37 } })),
  fc.tuple(range, fc.integer({ min: 1, max: 9 })).map(([ends, count]) => ({
    type: 'MULTIPLE_AGGREGATED_POINTS',
    details: { ...ends, count, aggregates: SIGNAL_AGGREGATES, per: '1h' },
  })),
  range.map((ends) => ({ type: 'GAPS', details: { ...ends, longerThan: '5min' } })),
  fc.tuple(range, fc.integer({ min: 1, max: 30 })).map(([ends, width]) => ({
    type: 'PLOT',
    details: { ...ends, width },
  })),
)

/** Of the request, of the function, both, or of the tag's metadata alone. */
const gap = fc.record({
  details: fc.constantFrom({}, {}, { maxGap: '1min' }, { maxGap: '59.5s' }, { maxGap: '10min' }),
  wrap: fc.constantFrom(
    (tag: string) => tag,
    (tag: string) => `calc/MAXGAP(${tag}, 5min)`,
    (tag: string) => `calc/NEG(calc/MAXGAP(calc/STEPPED(${tag}), 1min))`,
  ),
})

describe('a signal with gaps through the driver', () => {
  for (const stepped of [false, true]) {
    test(`is that of the tag read directly, ${stepped ? 'stepped' : 'linear'}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 300 }),
          fc.constantFrom(null, '1min', '5min', '2h'),
          fc.array(fc.tuple(request, gap), { minLength: 5, maxLength: 12 }),
          async (steps, maxGap, asked) => {
            const tag = await makeTag({ stepped, maxGap }, seriesOf(steps))
            const { direct, through } = await ask((plant) =>
              asked.map(([{ type, details }, own]) => ({
                type,
                tag: own.wrap(`${plant}/${tag}`),
                details: { ...details, ...own.details },
              })),
            )
            assert.deepEqual(direct.errors, {})
            assertSame(through.results, direct.results, 'results')
          },
        ),
        { numRuns: 60 },
      )
    })
  }

  const ends = { from: timeText(START), to: timeText(START + 40_000 * US_PER_SECOND) }
  const asked: readonly (readonly [title: string, type: string, details: object, mostRawPoints: number])[] = [
    ['values', 'INTERPOLATED_POINTS', { ...ends, count: 500 }, 0],
    [
      'aggregates',
      'MULTIPLE_AGGREGATED_POINTS',
      { ...ends, count: 24, aggregates: SIGNAL_AGGREGATES, per: '1h' },
      0,
    ],
    ['gaps', 'GAPS', { ...ends, longerThan: '2min' }, 0],
    // The point at the start of the range, and the good ones beside both of its ends.
    ['charts', 'PLOT', { ...ends, width: 200 }, 5],
  ]
  for (const [title, type, details, mostRawPoints] of asked) {
    for (const [place, maxGap, own, wrap] of [
      ['metadata', '5min', {}, (tag: string) => tag],
      ['details', null, { maxGap: '5min' }, (tag: string) => tag],
      ['a function', null, {}, (tag: string) => `calc/MAXGAP(${tag}, 5min)`],
    ] as const) {
      test(`raw points are not transferred for ${title}, with maxGap in ${place}`, async () => {
        const steps = Array.from({ length: 20_000 }, (_, i) => {
          return { seconds: i % 700 === 0 ? 600 : 2, value: Math.sin(i / 90), bad: i % 97 < 3 }
        })
        const tag = await makeTag({ maxGap }, seriesOf(steps))
        const { direct, through } = await ask((plant) => [
          { type, tag: wrap(`${plant}/${tag}`), details: { ...details, ...own } },
        ])
        assert.deepEqual(direct.errors, {})
        assertSame(through.results, direct.results, 'results')
        assert.ok(recording.rawPoints() <= mostRawPoints, JSON.stringify(recording.labels()))
        assert.equal(recording.labels().RAW_POINTS, undefined)
      })
    }
  }
})
