import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { instantFromUs, US_PER_HOUR, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

const MIDNIGHT = Date.parse('2026-01-15T00:00:00Z') * 1000
const minute = (minutes: number) => instantFromUs(MIDNIGHT + minutes * US_PER_MINUTE)
const RANGE = { from: minute(0), to: minute(600) }

function make(calculation: string, tags: readonly (readonly Row[])[], pushDowns: 'all' | 'none'): TestSeries {
  const source = new ArraySource(new Map(tags.map((rows, i) => ['AB'[i]!, columnsOf(rows)])))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: RANGE.to, zone: UTC }
  const context = { source, now: RANGE.to, zone: UTC, range: RANGE }
  return seriesOf(parseTag(`calc/${calculation}`, options), context, ({ name }) =>
    storedTag(name, false, pushDowns),
  )
}

/** Few points, so that there are long gaps between them. */
const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(599), fc.integer({ min: -20, max: 20 })), {
    minLength: 1,
    maxLength: 8,
    selector: ([minutes]) => minutes,
  })
  .map((all) => all.toSorted(([a], [b]) => a - b).map(([minutes, value]): Row => [minute(minutes), value]))

const inner = fc.constantFrom(
  'WINDOWAGG(h/A, AVG, 1h)',
  'WINDOWAGG(h/A, AVG, 10m)',
  'WINDOWAGG(h/A, SUM, 20m)',
  'WINDOWAGG(h/A, TOTAL, 30m, 1h)',
  'ADD(WINDOWAGG(h/A, AVG, 10m), h/B)',
  'SLIDINGAGG(WINDOWAGG(h/A, AVG, 20m), AVG, 1h)',
  'LOWPASS(h/A, 600)',
  'HIGHPASS(h/A, 600)',
)
const op = fc.constantFrom('AVG', 'MIN', 'COUNT', 'SUM', 'STDDEV', 'DIFF', 'TOTAL')
const finds = fc.constantFrom<FindPoint>('before', 'before-or-at', 'after', 'after-or-at')

describe('the raw point of a rolling window next to an instant', () => {
  test('over windows behind a gap has the value that it has in the range', async () => {
    for (const pushDowns of ['all', 'none'] as const) {
      const series = make('SLIDINGAGG(WINDOWAGG(h/A, AVG, 1h), AVG, 1h)', [[[minute(0), 5]]], pushDowns)
      const point = await series.rawPoint('before', minute(300))
      assert.deepEqual(point, { time: minute(30), value: 5, bad: false }, pushDowns)
    }
  })

  test('has the value and the status that it has in the range', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(inner, op, fc.constantFrom('20m', '1h', '3h')),
        rows,
        rows,
        fc.constantFrom('all' as const, 'none' as const),
        fc.tuple(finds, fc.integer({ min: 1, max: 599 })),
        async ([input, op, window], a, b, pushDowns, [find, minutes]) => {
          const text = `SLIDINGAGG(${input}, ${op}, ${window}${op === 'TOTAL' ? ', 1h' : ''})`
          const whole = await make(text, [a, b], pushDowns).rawPoints({
            ...RANGE,
            order: 'asc',
            limit: 1_000,
          })
          const { times, values, statuses } = whole.points
          const point = await make(text, [a, b], pushDowns).rawPoint(find, minute(minutes))
          if (point === null || point.time < RANGE.from || point.time >= RANGE.to) return
          const index = times.indexOf(point.time)
          const tolerance = 1e-9 * Math.max(1, Math.abs(values[index]!))
          const isClose = Math.abs(point.value - values[index]!) <= tolerance
          assert.ok(
            Number.isNaN(values[index]!) ? Number.isNaN(point.value) : isClose,
            `${point.value}, ${values[index]} at ${point.time} of ${text}`,
          )
          assert.equal(point.bad, statuses[index] !== 0)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('over a part has the integral that it has in the range', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(inner, op, fc.constantFrom('20m', '1h', '3h')),
        rows,
        rows,
        fc.uniqueArray(fc.integer({ min: 1, max: 599 }), { minLength: 2, maxLength: 2 }),
        async ([input, op, window], a, b, minutes) => {
          const text = `SLIDINGAGG(${input}, ${op}, ${window}${op === 'TOTAL' ? ', 1h' : ''})`
          const [from, to] = minutes.toSorted((a, b) => a - b).map(minute)
          // Before the first raw point and after the last, the line is that from one end of what is read to the other.
          const { points } = await make(text, [a, b], 'none').rawPoints({
            ...RANGE,
            order: 'asc',
            limit: 1_000,
          })
          if (!(points.times[0]! <= from! && to! <= points.times.at(-1)!)) return
          const all = Float64Array.of(RANGE.from, from!, to!, RANGE.to)
          const whole = await make(text, [a, b], 'none').integrals(all.subarray(0, -1), all.subarray(1))
          const part = await make(text, [a, b], 'none').integrals(all.subarray(1, 2), all.subarray(2, 3))
          const [found, expected] = [part.integrals[0]! / US_PER_HOUR, whole.integrals[1]! / US_PER_HOUR]
          assert.ok(
            Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
            `${found}, ${expected}: ${text}`,
          )
          assert.equal(part.coveredUs[0], whole.coveredUs[1])
        },
      ),
      { numRuns: 300 },
    )
  })
})
