import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import { END_INSTANT, instantFromUs, MIN_INSTANT, US_PER_HOUR } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { Need } from '../../graph/need.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'
import { WINDOW_OPS } from './ops.ts'

const START = Date.parse('2026-01-15T00:00:00Z') * 1000
const hour = (hours: number) => instantFromUs(START + hours * US_PER_HOUR)

/** Windows of an hour with a value at 1:00 and 9:00; a BAD point stands at 6:00, and all other windows are empty. */
const ROWS: readonly Row[] = [
  [hour(1), 8, false],
  [hour(6), 0, true],
  [hour(9), 16, false],
]
const LAST_INSTANT = instantFromUs(END_INSTANT - 1)
const RANGE = { from: hour(0), to: hour(12) }

interface Made {
  readonly source: ArraySource
  readonly series: TestSeries
}

function make(calculation: string, pushDowns: 'all' | 'none', rows = ROWS, range = RANGE): Made {
  const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: RANGE.to, zone: UTC }
  const context = { source, now: RANGE.to, zone: UTC, range }
  const tree = parseTag(`calc/${calculation}`, options)
  return { source, series: seriesOf(tree, context, ({ name }) => storedTag(name, false, pushDowns)) }
}

function assertEstimated({ source, series }: Made, need: Need): void {
  const cost = costOf(series.estimate([need]), source)
  assert.ok(source.crossed <= cost, `${source.crossed} crossed, ${cost} estimated for ${need.kind}`)
}

function assertClose(found: number, expected: number, least: number): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(found), `${found}, and there is no value`)
  else
    assert.ok(
      Math.abs(found - expected) <= 1e-9 * Math.max(least, Math.abs(expected)),
      `${found}, ${expected}`,
    )
}

describe('WINDOWAGG between windows of which the neighbours are empty', () => {
  for (const pushDowns of ['all', 'none'] as const) {
    for (const [op, expected] of [
      ['MAX', [8, 8, 8]],
      ['SUM', [8, 8, 8]],
      ['AVG', [11, 12, 13]],
      ['VAR', [0, 0, 0]],
    ] as const) {
      const calculation = `WINDOWAGG(h/A, ${op}, 1h)`
      const times = Float64Array.of(hour(4.5), hour(5.5), hour(6.5))

      test(`${op} is the same in the whole range, a part of it and at an instant (${pushDowns})`, async () => {
        const whole = await make(calculation, pushDowns).series.valuesAt(
          Float64Array.of(RANGE.from, ...times, RANGE.to),
        )
        assert.deepEqual([...whole.slice(1, -1)], expected)
        const part = await make(calculation, pushDowns).series.valuesAt(times)
        assert.deepEqual([...part], expected)
        for (const [i, time] of times.entries()) {
          const single = make(calculation, pushDowns)
          const at = instantFromUs(time)
          assert.deepEqual([...(await single.series.valuesAt(Float64Array.of(at)))], [expected[i]])
          assertEstimated(single, { kind: 'values', from: at, to: at, count: 1, key: 1 })
        }
      })

      test(`${op} is integrated over a part as over the whole range (${pushDowns})`, async () => {
        const made = make(calculation, pushDowns)
        const starts = Float64Array.of(hour(4.5))
        const ends = Float64Array.of(hour(6.5))
        const { integrals, coveredUs } = await made.series.integrals(starts, ends)
        assert.equal(coveredUs[0], 2 * US_PER_HOUR)
        assert.equal(integrals[0], expected[1] * 2 * US_PER_HOUR)
        assertEstimated(made, { kind: 'integrals', from: hour(4.5), to: hour(6.5), count: 1, key: 1 })
      })
    }
  }

  test('behind now a value goes on to the next window of the range, whichever of its times are wanted', async () => {
    const late = ROWS.map(([time, value, bad = false]): Row => [time + 12 * US_PER_HOUR, value, bad])
    const range = { from: hour(12), to: hour(24) }
    for (const [op, expected] of [
      ['MIN', [8, 8, Number.NaN]],
      ['AVG', [8.5, 10, Number.NaN]],
    ] as const) {
      const times = Float64Array.of(hour(14), hour(15.5), hour(23))
      const values = await make(`WINDOWAGG(h/A, ${op}, 1h)`, 'none', late, range).series.valuesAt(times)
      assert.deepEqual([...values], expected)
      const part = await make(`WINDOWAGG(h/A, ${op}, 1h)`, 'none', late, range).series.valuesAt(
        times.slice(0, 2),
      )
      assert.deepEqual([...part], expected.slice(0, 2))
    }
  })

  test('a request that begins behind a value holds none of it, also in what is read before the request', async () => {
    const range = { from: hour(4), to: hour(12) }
    const times = Float64Array.of(hour(2.5), hour(3), hour(5), hour(9))
    const values = await make('WINDOWAGG(h/A, MAX, 1h)', 'all', ROWS, range).series.valuesAt(times)
    assert.deepEqual([...values], [Number.NaN, Number.NaN, Number.NaN, 16])
    const { series } = make('WINDOWAGG(h/A, MAX, 1h)', 'all', ROWS, range)
    const { integrals } = await series.integrals(Float64Array.of(hour(2)), Float64Array.of(hour(10)))
    assert.equal(integrals[0], 16 * US_PER_HOUR)
  })

  for (const pushDowns of ['all', 'none'] as const) {
    test(`look-ups and pages find the same points, also from instants outside of the range (${pushDowns})`, async () => {
      const rows: Row[] = Array.from({ length: 12 }, (_, i) => [hour(i), i % 5, i % 4 === 3])
      const range = { from: hour(4), to: hour(7) }
      for (const op of Object.keys(WINDOW_OPS)) {
        const calculation = `WINDOWAGG(h/A, ${op}, 1h${op === 'TOTAL' ? ', 1h' : ''})`
        for (let at = hour(-1); at < hour(14); at = instantFromUs(at + US_PER_HOUR / 2)) {
          const { series } = make(calculation, pushDowns, rows, range)
          const older = await series.rawPoints({ from: MIN_INSTANT, to: at, order: 'desc', limit: 1 })
          const newer = await series.rawPoints({ from: at, to: LAST_INSTANT, order: 'asc', limit: 1 })
          const found = [await series.rawPoint('before', at), await series.rawPoint('after-or-at', at)]
          const times = found.map((point) => point?.time)
          assert.deepEqual(times, [older.points.times[0], newer.points.times[0]], `${op} at ${at}`)
        }
      }
    })
  }

  for (const pushDowns of ['all', 'none'] as const) {
    test(`the raw point next to an instant is that of the whole range (${pushDowns})`, async () => {
      for (const [op, before, after] of [
        ['MAX', 1, 9],
        ['AVG', 1.5, 9.5],
      ] as const) {
        for (const [find, expected] of [
          ['before', before],
          ['before-or-at', before],
          ['after', after],
          ['after-or-at', after],
        ] as const) {
          const made = make(`WINDOWAGG(h/A, ${op}, 1h)`, pushDowns)
          assert.equal((await made.series.rawPoint(find, hour(5.5)))?.time, hour(expected))
          assertEstimated(made, { kind: 'point', find, at: hour(5.5) })
        }
        const range = { from: hour(5.5), to: hour(5.5) }
        const { series } = make(`WINDOWAGG(h/A, ${op}, 1h)`, pushDowns, ROWS, range)
        assert.equal(await series.rawPoint('before', hour(5.5)), null)
      }
    })
  }

  test('a search before the windows of days is estimated, which may be shorter than they are', async () => {
    const made = make('SLIDINGAGG(WINDOWAGG(h/A, AVG, 1h), MIN, 1d)', 'none', [])
    const times = Float64Array.of(RANGE.from, RANGE.to)
    await made.series.valuesAt(times)
    assertEstimated(made, { kind: 'values', ...RANGE, count: times.length, key: 1 })
  })

  test('parts of any range have the values and integrals of the whole, and are estimated', async () => {
    const minutes = fc.uniqueArray(fc.tuple(fc.nat(719), fc.integer({ min: -8, max: 8 })), {
      maxLength: 12,
      selector: ([minute]) => minute,
    })
    const part = fc.uniqueArray(fc.nat(72), { minLength: 2, maxLength: 4 })
    const calls = fc
      .constantFrom(...Object.keys(WINDOW_OPS))
      .map((op) => `WINDOWAGG(h/A, ${op}, 20m${op === 'TOTAL' ? ', 1h' : ''})`)
    const pushed = fc.constantFrom('all' as const, 'none' as const)
    await fc.assert(
      fc.asyncProperty(minutes, part, calls, pushed, async (minutes, part, call, pushDowns) => {
        const sorted = minutes.toSorted(([a], [b]) => a - b)
        const rows = sorted.map(([minute, value]): Row => [hour(minute / 60), value, false])
        const range = { from: hour(1), to: hour(11) }
        const times = Float64Array.from(part, (at) => hour(1 + (10 * at) / 72)).sort()
        const [from, to] = [instantFromUs(times[0]!), instantFromUs(times.at(-1)!)]
        const whole = make(call, pushDowns, rows, range).series
        const all = Float64Array.from(new Set([range.from, ...times, range.to])).sort()
        const expected = await whole.valuesAt(all)
        const made = make(call, pushDowns, rows, range)
        const values = await made.series.valuesAt(times)
        assertEstimated(made, { kind: 'values', from, to, count: times.length, key: 1 })
        times.forEach((time, i) => {
          assertClose(values[i]!, expected[all.indexOf(time)]!, 1)
        })
        const sums = await whole.integrals(all.subarray(0, -1), all.subarray(1))
        const integrated = make(call, pushDowns, rows, range)
        const { integrals } = await integrated.series.integrals(times.subarray(0, -1), times.subarray(1))
        assertEstimated(integrated, { kind: 'integrals', from, to, count: times.length - 1, key: 1 })
        integrals.forEach((sum, i) => {
          const other = sums.integrals[all.indexOf(times[i]!)]!
          assertClose(sum, other, US_PER_HOUR)
        })
      }),
      { numRuns: 300 },
    )
  })
})

test('what is kept of windows is about as large as their points, however many are empty', async () => {
  const rows = Array.from({ length: 10 }, (_, day): Row => [hour(24 * day), day, false])
  const range = { from: hour(0), to: hour(240) }
  const { series } = make('WINDOWAGG(h/A, MAX, 1h)', 'all', rows, range)
  const stream = series.chunks({ ...range, order: 'asc', page: 1_000, extent: 'all' })
  let kept = 0
  for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next())
    kept += chunk.raw.times.buffer.byteLength / Float64Array.BYTES_PER_ELEMENT
  // Each chunk has also held the point that begins the next one.
  assert.ok(kept <= 20, `${kept} points kept`)
})
