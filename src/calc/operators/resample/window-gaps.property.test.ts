import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { RawRange } from '../../graph/point-source.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

/** In windows of a millisecond. */
const SPAN = 4_000
const WINDOW_US = 1_000

function make(op: string, rows: readonly Row[]): { series: TestSeries; source: ArraySource } {
  const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
  const now = instantFromUs(SPAN * WINDOW_US)
  const context = { source, now, zone: UTC, range: { from: instantFromUs(0), to: now } }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC }
  const tree = parseTag(`calc/WINDOWAGG(h/A, ${op}, 0.001s)`, options)
  return { source, series: seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all')) }
}

/** Runs of points and gaps between them, of lengths from a point to half of the range; some points are BAD. */
const rows: fc.Arbitrary<readonly Row[]> = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.nat(20), fc.nat(500), fc.nat(SPAN / 2)),
      length: fc.oneof(fc.nat(3), fc.nat(60)),
      step: fc.integer({ min: 1, max: 4 }),
      bad: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((runs) => {
    const points: Row[] = []
    let at = 0
    for (const { gap, length, step, bad } of runs) {
      at += gap
      for (let i = 0; i < length && at < SPAN; i++, at += step)
        points.push([at * WINDOW_US + 7, i, bad && i % 3 > 0])
    }
    return points
  })

async function read(op: string, rows: readonly Row[], range: RawRange) {
  const { series, source } = make(op, rows)
  const planned = plannedFor({ series, source }, range)
  const found = await series.rawPoints(range)
  return { found, crossed: source.crossed, planned }
}

function plannedFor(
  { series, source }: { readonly series: TestSeries; readonly source: ArraySource },
  { limit, ...range }: RawRange,
): number {
  return costOf(series.estimate([{ kind: 'raw', ...range, count: limit, isPage: true }]), source)
}

test('the first windows of a long range are those of the whole range, and are fetched within what is planned', async () => {
  const order = fc.constantFrom('asc' as const, 'desc' as const)
  const op = fc.constantFrom('AVG', 'MAX', 'COUNT', 'SUM')
  await fc.assert(
    fc.asyncProperty(rows, op, order, fc.integer({ min: 1, max: 60 }), async (points, op, order, limit) => {
      const reach = { from: instantFromUs(0), to: instantFromUs(SPAN * WINDOW_US), order }
      const { found, crossed, planned } = await read(op, points, { ...reach, limit })
      // With so many points allowed the range is short enough to be read whole.
      const all = await read(op, points, { ...reach, limit: SPAN })
      assert.deepEqual(found.points.times, all.found.points.times.slice(0, limit))
      assert.deepEqual(found.points.values, all.found.points.values.slice(0, limit))
      assert.equal(found.more, all.found.points.times.length > limit)
      // A page is estimated as windows that hold points; past empty ones the next point is looked up, and past BAD ones
      // again and again, with a few windows each.
      const gaps = 10 * (limit + 10)
      assert.ok(crossed <= planned + gaps, `${crossed} crossed, ${planned} planned`)
      assert.ok(planned <= 60 * (limit + 10), `${planned} planned for ${limit}`)
    }),
    { numRuns: 300 },
  )
})

test('ten points of a year by the minute are planned as little more than these', async () => {
  const minutes = 365 * 24 * 60
  const { series, source } = make(
    'AVG',
    Array.from({ length: 2_000 }, (_, i): Row => [i * WINDOW_US, i]),
  )
  const range = {
    from: instantFromUs(0),
    to: instantFromUs(minutes * WINDOW_US),
    order: 'asc',
    limit: 10,
  } as const
  const planned = plannedFor({ series, source }, range)
  const { points, more } = await series.rawPoints(range)
  assert.deepEqual([...points.values], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.ok(more)
  assert.ok(source.crossed <= planned && planned < 1_000, `${source.crossed} crossed, ${planned} planned`)
})
