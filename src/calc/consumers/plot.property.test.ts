import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import type { PointColumns } from '../../series/columns.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { plotOf } from './plot.ts'

/** `[time, value]`, or `[time, null]` for a break. */
type Shown = readonly [time: number, value: number | null]

interface Setting {
  readonly rows: readonly Row[]
  readonly stepped: boolean
  readonly edges: readonly number[]
  readonly now: number
  /** Infinity for none. */
  readonly maxGap: number
}

const SPAN = 400

const settings: fc.Arbitrary<Setting> = fc
  .record({
    rows: fc.uniqueArray(
      fc.tuple(
        fc.integer({ min: -SPAN, max: 2 * SPAN }),
        fc.integer({ min: -5, max: 5 }),
        fc.boolean(),
        fc.nat(3),
      ),
      { maxLength: 120, selector: ([time]) => time },
    ),
    stepped: fc.boolean(),
    edges: fc.uniqueArray(fc.integer({ min: 0, max: SPAN }), { minLength: 2, maxLength: 20 }),
    now: fc.integer({ min: -SPAN, max: 2 * SPAN }),
    maxGap: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 40 })),
  })
  .map(({ rows, stepped, edges, now, maxGap }) => ({
    rows: rows
      .map(([time, value, bad, odds]): Row => [time, value, bad && odds === 0])
      .sort((a, b) => a[0] - b[0]),
    stepped,
    edges: edges.toSorted((a, b) => a - b),
    now,
    maxGap,
  }))

/** The value by the rules of points, over all rows. */
function valueAt({ rows, stepped, now, maxGap }: Setting, at: number): number | null {
  let before: Row | null = null
  let after: Row | null = null
  for (const row of rows) {
    if (row[2]) continue
    if (row[0] <= at) before = row
    else if (after === null) after = row
  }
  if (before === null) return null
  if (before[0] === at) return before[1]
  if (after === null) return at <= now && at < before[0] + maxGap ? before[1] : null
  const isGap = after[0] - before[0] > maxGap
  if (isGap && (!stepped || at >= before[0] + maxGap)) return null
  if (stepped) return before[1]
  return before[1] + ((after[1] - before[1]) * (at - before[0])) / (after[0] - before[0])
}

/** What a chart needs, by loops over all rows. */
function expectedPlot(setting: Setting): { readonly points: readonly Shown[]; readonly sampled: boolean } {
  const { rows, edges } = setting
  const shown = new Map<number, number | null>()
  let sampled = false
  for (let i = 0; i + 1 < edges.length; i++) {
    const column = rows.filter(([time]) => time >= edges[i]! && time < edges[i + 1]!)
    const good = column.filter(([, , bad]) => !bad)
    const bad = column.filter(([, , isBad]) => isBad)
    const given =
      good.length < 4
        ? good
        : [
            good[0]!,
            good.find(([, value]) => good.every((other) => value <= other[1]))!,
            good.find(([, value]) => good.every((other) => value >= other[1]))!,
            good.at(-1)!,
          ]
    for (const [time, value] of given) shown.set(time, value)
    if (bad[0] !== undefined) shown.set(bad[0][0], null)
    if (bad.length > 1 || new Set(given).size < good.length) sampled = true
  }
  const [from, to] = [edges[0]!, edges.at(-1)!]
  for (const edge of [from, to]) {
    const value = valueAt(setting, edge)
    if (value !== null && !shown.has(edge)) shown.set(edge, value)
  }
  // The signal ends once after each point that is given, and after the value at the first edge, also where a BAD point
  // stands in its place: a break more beside that one does no harm.
  let isOpen = valueAt(setting, from) !== null
  for (let at = from + 1; at < to; at++) {
    if (typeof shown.get(at - 1) === 'number') isOpen = true
    if (valueAt(setting, at) !== null || valueAt(setting, at - 1) === null || !isOpen) continue
    isOpen = false
    if (!shown.has(at)) shown.set(at, null)
  }
  return { points: [...shown].toSorted((a, b) => a[0] - b[0]), sampled }
}

function seriesFor(setting: Setting, tag: string, pushDowns: 'all' | 'none', pagePoints: number) {
  const source = new ArraySource(new Map([['A', columnsOf(setting.rows)]]))
  const now = instantFromUs(setting.now)
  const range = { from: instantFromUs(setting.edges[0]!), to: instantFromUs(setting.edges.at(-1)!) }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC }
  const series = seriesOf(parseTag(tag, options), { source, now, zone: UTC, range, pagePoints }, ({ name }) =>
    tagOf(name, setting, pushDowns),
  )
  return { series, source }
}

function tagOf(name: string, { stepped, maxGap }: Setting, pushDowns: 'all' | 'none') {
  const tag = storedTag(name, stepped, pushDowns)
  return maxGap === Number.POSITIVE_INFINITY ? tag : { ...tag, maxGapUs: maxGap }
}

async function plot(series: TestSeries, edges: readonly number[]) {
  const { points, sampled } = await plotOf(series.operator, Float64Array.from(edges), series.evaluation)
  return { points: shownOf(points), sampled }
}

function shownOf({ times, values, statuses }: PointColumns): readonly Shown[] {
  return Array.from(times, (time, i) => {
    assert.equal(statuses[i] === 1, Number.isNaN(values[i]!), 'BAD points alone have no value')
    return [time, Number.isNaN(values[i]!) ? null : values[i]!]
  })
}

/** Rounded, since a sum with 0 may go another way than the value itself. */
function rounded(points: readonly Shown[]): readonly Shown[] {
  return points.map(([time, value]) => [time, value === null ? null : Math.round(value * 1e9) / 1e9 + 0])
}

const WAYS = [
  ['h/A', 'all'],
  ['h/A', 'none'],
  // Read as a calculation, in chunks.
  ['calc/ADD(h/A, 0)', 'none'],
] as const

test('a plot has the first, least, greatest and last point of each column, both edges, and breaks', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.integer({ min: 2, max: 50 }), async (setting, page) => {
      const expected = expectedPlot(setting)
      for (const [tag, pushDowns] of WAYS) {
        const { series } = seriesFor(setting, tag, pushDowns, page)
        const found = await plot(series, setting.edges)
        assert.deepEqual(rounded(found.points), rounded(expected.points), `${tag} ${pushDowns}`)
        assert.equal(found.sampled, expected.sampled, `${tag} ${pushDowns}`)
      }
    }),
    { numRuns: 400 },
  )
})

test('a plot is never estimated below what it reads', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.integer({ min: 2, max: 50 }), async (setting, page) => {
      for (const [tag, pushDowns] of WAYS) {
        const { series, source } = seriesFor(setting, tag, pushDowns, page)
        const { edges } = setting
        const [from, to] = [instantFromUs(edges[0]!), instantFromUs(edges.at(-1)!)]
        const cost = costOf(
          series.estimate([
            { kind: 'plot', from, to, count: edges.length - 1, key: 0 },
            { kind: 'values', from, to, count: 2, key: 0 },
          ]),
          source,
        )
        await plot(series, edges)
        assert.ok(source.crossed <= cost, `${tag} ${pushDowns}: ${source.crossed} crossed, ${cost} estimated`)
      }
    }),
    { numRuns: 100 },
  )
})

test('the line breaks where an input of a calculation has no value', async () => {
  const rows: readonly Row[] = [
    [0, 4],
    [10, 0],
    [20, 0],
    [30, 2],
    [40, 8],
  ]
  const setting = { rows, stepped: true, edges: [0, 50], now: 45, maxGap: Number.POSITIVE_INFINITY }
  // 1 / A: 1/4 until 10, none until 30, 1/2, 1/8 until now.
  const { series } = seriesFor(setting, 'calc/DIV(1, h/A)', 'none', 3)
  assert.deepEqual(await plot(series, setting.edges), {
    points: [
      [0, 0.25],
      [10, null],
      [30, 0.5],
      [40, 0.125],
      [46, null],
    ],
    sampled: true,
  })
})

test('the line breaks where a point is good no longer, also when that is now', async () => {
  const setting = { rows: [[64, 7]] as const, stepped: false, edges: [0, 98], maxGap: 33 }
  for (const [now, end] of [
    [96, 97],
    [97, 97],
    [80, 81],
  ] as const) {
    for (const [tag, pushDowns] of WAYS) {
      const { series } = seriesFor({ ...setting, now }, tag, pushDowns, 3)
      const { points } = await plot(series, setting.edges)
      assert.deepEqual(
        points,
        [
          [64, 7],
          [end, null],
        ],
        `${tag} ${pushDowns} now ${now}`,
      )
    }
  }
})
