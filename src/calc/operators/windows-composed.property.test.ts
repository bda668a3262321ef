import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { STATUS_BAD } from '../../series/columns.ts'
import { instantFromUs, US_PER_HOUR } from '../../time/instant.ts'
import { parseTime } from '../../time/parse.ts'
import { parseTimeZone } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { assertWithinLoad } from '../graph/load-margin.fixture.ts'
import type { Need } from '../graph/need.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'

/**
 * Totals and windows inside each other and inside other functions, over days on which the clocks of the zone change and
 * months end. There is no slow reference of these: what is compared are the ways in which they can be worked out.
 */
const ZONE = parseTimeZone('Europe/Oslo')!
const HOURS = 16 * 24

const seasons = fc.constantFrom('2023-03-18T00:00Z', '2023-10-20T00:00Z', '2024-02-20T00:00Z')

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(HOURS), fc.integer({ min: -8, max: 8 }), fc.nat(5)), {
    maxLength: 25,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b))

/** One of each kind: in the middle of windows and linear, at their starts and stepped. */
const WINDOWAGG = SIGNATURES.has('WINDOWAGG') ? ['AVG', 'MAX'] : []

const window = fc.constantFrom('1d', '1mo', 'PT7H', '1w', 'P1DT3H', '90m', '25h')
/**
 * Integrated: what is totalised or averaged over time. What moves with time goes on changing beyond its last raw
 * point, where nothing says how it runs between two times that are looked at; so none is integrated here.
 */
const calculation = fc.letrec<{ any: string; integrated: string }>((tie) => ({
  integrated: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('h/A', 'h/B'),
    fc
      .tuple(
        tie('integrated'),
        fc.constantFrom(
          'DAY, BEGIN_DAY',
          '1d, 06:00 local',
          'WEEK, BEGIN_WEEK',
          'MONTH, BEGIN_MONTH',
          '1d, 00:00',
        ),
      )
      .map(([a, windows]) => `TOTALISE(${a}, ${windows}, 1h)`),
    tie('integrated').map((a) => `TOTALISERAW(${a}, HOUR, BEGIN_DAY, 1h)`),
    fc.tuple(tie('integrated'), tie('integrated')).map(([a, b]) => `ADD(${a}, ${b})`),
    fc.tuple(tie('integrated'), tie('integrated')).map(([a, b]) => `MUL(${a}, ${b})`),
  ),
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    tie('integrated'),
    fc
      .tuple(
        tie('any'),
        fc.constantFrom('MIN', 'MAX', 'COUNT', 'NUMGOOD', 'NUMBAD', 'SUM', 'STDDEV', 'VAR', 'DIFF'),
        window,
      )
      .map(([a, op, window]) => `SLIDINGAGG(${a}, ${op}, ${window})`),
    fc.tuple(tie('integrated'), window).map(([a, window]) => `SLIDINGAGG(${a}, AVG, ${window})`),
    fc.tuple(tie('integrated'), window).map(([a, window]) => `TOTALISE(${a}, ${window}, -2h, 1h)`),
    ...WINDOWAGG.map((op) =>
      fc
        .tuple(tie('integrated'), fc.constantFrom('PT7H', '1d', '1w'))
        .map(([a, window]) => `WINDOWAGG(${a}, ${op}, ${window})`),
    ),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `ADD(${a}, ${b})`),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `MUL(${a}, ${b})`),
  ),
})).any

const setting = fc.record({
  rows: fc.tuple(rows, rows),
  stepped: fc.tuple(fc.boolean(), fc.boolean()),
  season: seasons,
  calculation,
  from: fc.nat(HOURS),
  hours: fc.integer({ min: 1, max: 60 }),
  now: fc.integer({ min: HOURS / 2, max: HOURS + 80 }),
})
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never

interface Way {
  readonly source: ArraySource
  readonly series: TestSeries
}

function wayOf(
  setting: Setting,
  pushDowns: 'all' | 'none',
  page: number,
): Way & { from: number; to: number } {
  const { rows, stepped, season, calculation, now } = setting
  const start = parseTime(season, { now: instantFromUs(0), zone: ZONE })!
  const at = (hour: number) => instantFromUs(start + hour * US_PER_HOUR)
  const stored = (rows: readonly (readonly number[])[]): readonly Row[] =>
    rows.map(([hour, value, bad]): Row => [at(hour!), value!, bad === 0])
  const source = new ArraySource(
    new Map([
      ['A', columnsOf(stored(rows[0]))],
      ['B', columnsOf(stored(rows[1]))],
    ]),
  )
  const [from, to] = [at(setting.from), at(setting.from + setting.hours)]
  const context = { source, now: at(now), zone: ZONE, range: { from, to }, pagePoints: page }
  const tree = parseTag(`calc/ADD(${calculation})`, {
    signatures: SIGNATURES,
    defaultHistorian: null,
    now: at(now),
    zone: ZONE,
  })
  const series = seriesOf(tree, context, ({ name }) =>
    storedTag(name, stepped[name === 'A' ? 0 : 1], pushDowns),
  )
  return { source, series, from, to }
}

function near(found: number, expected: number, what: string): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(found), `${what}: ${found}, and the other way nothing`)
  else
    assert.ok(
      Math.abs(found - expected) <= 1e-6 * Math.max(1, Math.abs(expected)),
      `${what}: ${found}, ${expected}`,
    )
}

/** Answers as an estimate of its own foresaw. */
async function planned<Result>(
  { source, series }: Way,
  needs: readonly Need[],
  answer: () => Promise<Result>,
): Promise<Result> {
  const before = source.crossed
  const result = await answer()
  const reads = series.estimate(needs)
  const what = `${needs[0]!.kind}: ${reads.map(({ key }) => key).join('; ')}`
  assertWithinLoad(source.crossed - before, costOf(reads, source), what)
  return result
}

/**
 * Windows of calculations with and without values, whose functions around begin later than they may at the earliest.
 */
const FOUND: readonly [Setting, 'asc'][] = (
  [
    [[[168, 0, 0]], [], 'SLIDINGAGG(WINDOWAGG(h/A, MAX, 1d), MIN, 1d)', 240],
    [[], [[0, 0, 1]], 'SLIDINGAGG(WINDOWAGG(SUM_A, AVG, PT7H), DIFF, 1mo)', 0],
    [[[0, 0, 1]], [], 'SLIDINGAGG(WINDOWAGG(SUM_A, AVG, PT7H), DIFF, 1mo)', 0],
    [
      [[0, 0, 1]],
      [],
      'SLIDINGAGG(WINDOWAGG(MUL(ADD(TOTALISERAW(h/A, HOUR, BEGIN_DAY, 1h), h/A), ADD(h/A, TOTALISE(h/A, DAY, BEGIN_DAY, 1h))), MAX, PT7H), MIN, 1d)',
      0,
    ],
  ] as const
).map(([a, b, windows, from]) => {
  const rows: Setting['rows'] = [a.map((row) => [...row]), b.map((row) => [...row])]
  const calculation = windows.replaceAll('SUM_A', 'ADD(h/A, ADD(h/B, TOTALISERAW(h/A, HOUR, BEGIN_DAY, 1h)))')
  const setting: Setting = {
    ...{ rows, calculation, from, hours: 1, now: 192 },
    ...{ stepped: [false, false], season: '2023-03-18T00:00Z' },
  }
  return [setting, 'asc']
})

test('values, raw points and integrals are the same with and without push-downs and in pages of a few points', async () => {
  await fc.assert(
    fc.asyncProperty(setting, fc.constantFrom('asc' as const, 'desc' as const), async (setting, order) => {
      const ways = [wayOf(setting, 'all', 500), wayOf(setting, 'none', 4), wayOf(setting, 'none', 60)]
      const { from, to } = ways[0]!
      const reach = { from: instantFromUs(from), to: instantFromUs(to) }
      const times = Float64Array.from({ length: 9 }, (_, i) => from + Math.round(((to - from) * i) / 8))
      const values = await Promise.all(
        ways.map((way) =>
          planned(way, [{ kind: 'values', key: 1, count: times.length, ...reach }], () =>
            way.series.valuesAt(times),
          ),
        ),
      )
      for (const found of values.slice(1))
        found.forEach((value, i) => void near(value, values[0]![i]!, `value ${i}`))

      const raw = { ...reach, order, limit: 20 }
      const points = await Promise.all(
        ways.map((way) =>
          planned(way, [{ kind: 'raw', isPage: true, count: raw.limit, ...raw }], () =>
            way.series.rawPoints(raw),
          ),
        ),
      )
      for (const { points: found, more } of points.slice(1)) {
        assert.deepEqual(found.times, points[0]!.points.times)
        assert.deepEqual(found.statuses, points[0]!.points.statuses)
        assert.equal(more, points[0]!.more)
        found.values.forEach(
          (value, i) => void near(value, points[0]!.points.values[i]!, `raw ${found.times[i]}`),
        )
      }
      const { times: rawTimes, values: rawValues, statuses } = points[0]!.points
      if (rawTimes.length > 0) {
        // With both ends of the range: WINDOWAGG has the windows that the times asked for touch, and those of raw
        // points are the windows of the range.
        const sorted = Float64Array.from(new Set([from, ...rawTimes, to])).sort()
        const again = await ways[0]!.series.valuesAt(sorted)
        rawTimes.forEach((time, i) => {
          if (statuses[i] !== STATUS_BAD)
            near(again[sorted.indexOf(time)]!, rawValues[i]!, `value at raw time ${time}`)
        })
      }

      for (const find of ['before', 'after-or-at'] as const) {
        const beside = await Promise.all(
          ways.map((way) =>
            planned(way, [{ kind: 'point', find, at: reach.from }], () =>
              way.series.rawPoint(find, reach.from),
            ),
          ),
        )
        for (const found of beside.slice(1)) {
          assert.equal(found?.time, beside[0]?.time)
          assert.equal(found?.bad, beside[0]?.bad)
          if (found !== null) near(found.value, beside[0]!.value, find)
        }
      }

      const edges = times.filter((_, i) => i % 4 === 0)
      const aggregates = await Promise.all(
        ways.map((way) =>
          planned(
            way,
            [{ kind: 'aggregates', key: 2, count: 2, names: FIRST_AGGREGATE_NAMES, ...reach }],
            () => way.series.aggregates(edges, FIRST_AGGREGATE_NAMES),
          ),
        ),
      )
      for (const found of aggregates.slice(1)) {
        for (const name of FIRST_AGGREGATE_NAMES) {
          // Differences of large numbers decide a variance.
          if (name === 'variance' || name === 'stdDev') continue
          found[name]!.forEach((value, i) => void near(value, aggregates[0]![name]![i]!, `${name} of ${i}`))
        }
      }
    }),
    { numRuns: 60 + FOUND.length, examples: [...FOUND] },
  )
})
