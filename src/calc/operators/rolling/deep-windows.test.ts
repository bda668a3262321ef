import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import { costOf, type Row } from '../../graph/array-source.fixture.ts'
import { deepSeries, MINUTE, range, rows, sourceOf } from '../../graph/deep.fixture.ts'
import type { TestSeries } from '../../graph/series.fixture.ts'

function deep(
  levels: number,
  window: string,
  leaf: string,
  maxEvaluated?: number,
  source = sourceOf(rows),
): TestSeries {
  return deepSeries(
    { levels, leaf, wrap: (inner) => `SLIDINGAGG(${inner}, ${window})` },
    source,
    maxEvaluated,
  )
}

const edges = Float64Array.of(range.from, range.to)

for (const window of ['DIFF, 10m', 'MAX, 1m', 'AVG, 10m', 'COUNT, 3m']) {
  test(`each level of windows inside each other is worked out once: ${window}`, async () => {
    // One level: 100 raw points a minute over the range and what the windows inside reach before it. Levels worked out
    // anew for each level above them take ten times as many with 20 of them.
    const reach = window === 'DIFF, 10m' || window === 'AVG, 10m' ? 10 : 3
    const points = Array.from({ length: 20 }, (_, i) => 100 * (60 + reach * (i + 1))).reduce((a, b) => a + b)
    const { timeAvg } = await deep(20, window, 'siggen/sin1@60', 6 * points).aggregates(edges, ['timeAvg'])
    assert.ok(Number.isFinite(timeAvg![0]!))
  })
}

test('a page of raw points reads what lies before it once for all levels', async () => {
  for (const window of ['MAX, 1m', 'COUNT, 3m']) {
    // What the windows of 20 levels reach before the page: 100 raw points a minute, and twice as many for each level.
    const points = Array.from({ length: 20 }, (_, i) => 100 * 3 * (i + 1)).reduce((a, b) => a + b)
    const found = await deep(20, window, 'siggen/sin1@60', 12 * points).rawPoints({
      ...range,
      order: 'asc',
      limit: 50,
    })
    assert.equal(found.points.times.length, 50)
  }
})

test('values of deep windows are those of the same windows, asked for one by one', async () => {
  for (const window of ['DIFF, 90s', 'MAX, 90s', 'MIN, 2m', 'SUM, 3m', 'AVG, 90s', 'VAR, 4m', 'COUNT, 2m']) {
    const series = deep(6, window, 'h/A')
    const { points } = await series.rawPoints({ ...range, order: 'asc', limit: 100 })
    assert.equal(points.times.length, 60)
    for (const i of [0, 1, 29, 58, 59]) {
      const alone = await deep(6, window, 'h/A').valuesAt(points.times.subarray(i, i + 1))
      const [value, expected] = [points.values[i]!, alone[0]!]
      const isClose = Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
      assert.ok(isClose || Object.is(value, expected), `${window} at ${i}: ${value} is ${expected}`)
    }
  }
})

test('a point next to an instant is that of the raw points, with its status', async () => {
  for (const window of ['MAX, 90s', 'MIN, 2m', 'DIFF, 2m']) {
    for (const leaf of ['h/A', 'NOBAD(h/A)', 'siggen/sin1@60', 'siggen/rand5@600']) {
      const { points } = await deep(3, window, leaf).rawPoints({ ...range, order: 'desc', limit: 8 })
      for (let i = 0; i < points.times.length - 1; i++) {
        const found = await deep(3, window, leaf).rawPoint('before', instantFromUs(points.times[i]!))
        assert.equal(found?.time, points.times[i + 1], `${window} ${leaf}`)
        assert.ok(Math.abs(found.value - points.values[i + 1]!) < 1e-9 || Number.isNaN(found.value))
        assert.equal(found.bad, points.statuses[i + 1] !== 0, `${window} ${leaf} at ${found.time}`)
      }
    }
  }
})

test('points beside an instant, of windows inside each other, are estimated by the level and not at twice for each', async () => {
  const source = sourceOf(rows)
  const series = deep(45, 'DIFF, 10m', 'h/A', undefined, source)
  const { from } = range
  const needs = (['before', 'before-or-at', 'after'] as const).map(
    (find) => ({ kind: 'point', find, at: from }) as const,
  )
  const estimated = costOf(series.estimate(needs), source)
  await Promise.all(needs.map(({ find, at }) => series.rawPoint(find, at)))
  assert.ok(source.crossed <= estimated, `${source.crossed} of ${estimated}`)
  assert.ok(estimated <= 400, `${estimated}`)
})

test('a window at the first accepted instant has the value there, deep inside of others too', async () => {
  for (const levels of [1, 5]) {
    const series = deep(levels, 'AVG, 10m', 'ADD(siggen/sin1@60, 2)')
    const first = { from: MIN_INSTANT, to: instantFromUs(MIN_INSTANT + 10 * MINUTE), order: 'asc' } as const
    const { points } = await series.rawPoints({ ...first, limit: 5 })
    assert.equal(points.times[0], MIN_INSTANT)
    const [expected] = await series.valuesAt(Float64Array.of(MIN_INSTANT))
    assert.ok(Math.abs(points.values[0]! - expected!) < 1e-9, `${points.values[0]} is ${expected}`)
  }
})

test('what lies before a far raw point is read once a level: that of 45 windows, hours before', async () => {
  // Each level reads what lies before it in parts as long as a window; parts of parts that end apart are read by each
  // level for each level above it, at ten times the cost.
  for (const window of ['MAX, 7m', 'COUNT, 7m']) {
    const point = await deep(45, window, 'dates/DAY_UTC', 300_000).rawPoint('before', range.from)
    assert.equal(point!.time, 0)
  }
})

test('windows before the first value of their input are not worked out', async () => {
  // The windows of 45 levels reach back to before the first point; one level has a raw point a minute, no more than
  // 700.
  const points = 45 * 700
  const many = Float64Array.from({ length: 101 }, (_, i) => range.from + i * 36_000_000)
  const names = ['startBound'] as const
  const empty = await deep(45, 'DIFF, 1h', 'h/A', 6 * points).aggregates(many, names)
  assert.ok(empty.startBound!.every(Number.isNaN))
  const greatest = await deep(45, 'MAX, 1h', 'h/A', 10 * points).aggregates(many, names)
  assert.ok(greatest.startBound!.every((value) => value === 100))
})

test('values of deep windows over a tag that begins within them are those asked for one by one', async () => {
  const begun = rows.filter(([time]) => time >= 595 * MINUTE).map((row, i) => (i < 3 ? bad(row) : row))
  for (const window of ['DIFF, 2m', 'MAX, 90s', 'MIN, 2m', 'SUM, 3m', 'AVG, 90s', 'VAR, 4m', 'COUNT, 2m']) {
    for (const leaf of ['h/A', 'NOBAD(h/A)', 'STEPPED(h/A)']) {
      const series = deep(6, window, leaf, undefined, sourceOf(begun))
      const { points } = await series.rawPoints({
        from: instantFromUs(0),
        to: range.to,
        order: 'asc',
        limit: 100,
      })
      const between = points.times.map((time) => time + 31_000_000)
      const values = await deep(6, window, leaf, undefined, sourceOf(begun)).valuesAt(between)
      for (let i = 0; i < 24; i++) {
        const one = deep(6, window, leaf, undefined, sourceOf(begun))
        const alone = await one.valuesAt(Float64Array.of(points.times[i]!))
        assertSame(points.values[i]!, alone[0]!, `${window} ${leaf} at point ${i}`)
        const later = await one.valuesAt(between.subarray(i, i + 1))
        assertSame(values[i]!, later[0]!, `${window} ${leaf} after point ${i}`)
      }
    }
  }
})

function bad([time, value]: Row): Row {
  return [time, value, true]
}

function assertSame(value: number, expected: number, what: string): void {
  const isClose = Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
  assert.ok(isClose || Object.is(value, expected), `${what}: ${value} is ${expected}`)
}
