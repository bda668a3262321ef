import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WindowAggregator } from './aggregate.ts'
import type { AggregateName } from './aggregate-names.ts'
import { AGGREGATE_NAMES, FIRST_AGGREGATE_NAMES } from './aggregate-names.ts'
import { makeColumns, type PointColumns, STATUS_BAD, sliceColumns } from './columns.ts'
import { Moments } from './moments.ts'
import { summarize } from './summary.ts'

const NAMES = FIRST_AGGREGATE_NAMES.filter((name) => name !== 'timeAvg')

function columnsOf(values: readonly number[], bad: readonly number[] = []): PointColumns {
  const columns = makeColumns(values.length)
  values.forEach((value, i) => {
    columns.times[i] = i
    columns.values[i] = value
  })
  for (const i of bad) columns.statuses[i] = STATUS_BAD
  return columns
}

/** The slow, obvious aggregates. */
function reference(all: readonly number[], good: readonly number[]) {
  const n = good.length
  const none = n === 0
  const sum = good.reduce((total, value) => total + value, 0)
  const mean = sum / n
  const variance = n === 1 ? 0 : good.reduce((total, value) => total + (value - mean) ** 2, 0) / (n - 1)
  const sorted = good.toSorted((a, b) => a - b)
  const median = n % 2 ? sorted[(n - 1) / 2]! : (sorted[n / 2 - 1]! + sorted[n / 2]!) / 2
  return {
    min: none ? NaN : sorted[0]!,
    max: none ? NaN : sorted[n - 1]!,
    avg: none ? NaN : mean,
    median: none ? NaN : median,
    variance: none ? NaN : variance,
    stdDev: none ? NaN : Math.sqrt(variance),
    first: none ? NaN : good[0]!,
    last: none ? NaN : good[n - 1]!,
    sum: none ? NaN : sum,
    range: none ? NaN : sorted[n - 1]! - sorted[0]!,
    count: all.length,
    numGood: n,
    numBad: all.length - n,
  }
}

function assertClose(actual: number, expected: number, what: string) {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(actual), `${what}: ${actual} is no NaN`)
  else
    assert.ok(
      Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
      `${what}: ${actual} ${expected}`,
    )
}

const rows = fc.array(fc.tuple(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.nat({ max: 3 })), {
  maxLength: 60,
})

test('aggregates over windows are those of the good points in each, however the points are paged', () => {
  fc.assert(
    fc.property(
      rows,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      (rows, width, page) => {
        const all = columnsOf(
          rows.map(([value]) => value),
          rows.flatMap(([, bad], i) => (bad === 0 ? [i] : [])),
        )
        const edges = Float64Array.from({ length: 5 }, (_, i) => 3 + i * width)
        const windows = new WindowAggregator(edges, FIRST_AGGREGATE_NAMES)
        for (let i = 0; i < rows.length; i += page)
          windows.add(sliceColumns(all, i, Math.min(rows.length, i + page)))
        const found = windows.finish()
        for (let w = 0; w < 4; w++) {
          const inside = rows.filter((_, i) => i >= edges[w]! && i < edges[w + 1]!)
          const expected = reference(
            inside.map(([value]) => value),
            inside.filter(([, bad]) => bad !== 0).map(([value]) => value),
          )
          for (const name of NAMES)
            assertClose(found[name]![w]!, expected[name as keyof typeof expected], name)
        }
        assert.equal(found.timeAvg, undefined)
      },
    ),
  )
})

test('an aggregate alone is the one beside all others, to the last bit', () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ max: 9 }))
  fc.assert(
    fc.property(fc.array(value, { maxLength: 30 }), fc.nat({ max: 30 }), (values, bad) => {
      const edges = Float64Array.of(0, 10, 30)
      const aggregated = (names: readonly AggregateName[]) => {
        const windows = new WindowAggregator(edges, names)
        windows.add(columnsOf(values, bad < values.length ? [bad] : []))
        return windows.finish()
      }
      const all = aggregated(NAMES)
      for (const name of NAMES) assert.deepEqual(aggregated([name])[name], all[name], name)
    }),
  )
})

test('a window is closed below and open above', () => {
  const windows = new WindowAggregator(Float64Array.of(1, 3, 4), ['sum', 'count'])
  windows.add(columnsOf([1, 2, 4, 8, 16]))
  assert.deepEqual(windows.finish(), { sum: Float64Array.of(6, 8), count: Float64Array.of(2, 1) })
})

test('1,000,000 ± 0.01 keeps its digits, also merged from blocks', () => {
  const values = Array.from({ length: 20_000 }, (_, i) => 1e6 + (i % 2 ? 0.01 : -0.01))
  // The doubles next to 1e6 ± 0.01 are what is stored, so they are what has a deviation.
  const deviation = (values[1]! - values[0]!) / 2
  const expected = (deviation ** 2 * values.length) / (values.length - 1)
  const whole = new Moments()
  whole.add(columnsOf(values))
  const merged = new Moments()
  for (let i = 0; i < values.length; i += 777) merged.merge(summarize(columnsOf(values.slice(i, i + 777))))
  for (const { variance, avg, sum } of [whole, merged]) {
    assert.ok(Math.abs(variance / expected - 1) < 1e-9)
    assert.equal(avg, 1e6)
    assert.equal(sum, 2e10)
  }
  assert.equal(over(values, 'median'), 1e6)
})

/** One aggregate over all values. */
function over(values: readonly number[], name: AggregateName): number {
  const aggregator = new WindowAggregator(Float64Array.of(0, Number.MAX_SAFE_INTEGER), [name])
  aggregator.add(columnsOf(values))
  return aggregator.finish()[name]![0]!
}

test('a sum does not lose small values between large ones', () => {
  assert.equal(over([1e16, 1, 1, 1, 1, -1e16], 'sum'), 4)
})

test('a mean of huge values exists where their sum does not', () => {
  const huge = [1.5e308, 1.5e308, 1.5e308]
  assert.ok(Math.abs(over(huge, 'avg') / 1.5e308 - 1) < 1e-15)
  assert.equal(over(huge, 'median'), 1.5e308)
  assert.ok(Number.isNaN(over(huge, 'sum')))
})

test('a summary merged into windows that want their median is a bug, not a wrong median', () => {
  const aggregator = new WindowAggregator(Float64Array.of(0, 10), ['median'])
  const times = { firstTime: 1, lastTime: 2, firstGoodTime: 1, lastGoodTime: 2, linear: 1, stepped: 1 }
  const summary = { ...summarize(columnsOf([1, 1])), ...times }
  assert.equal(aggregator.takes(summary), false)
  assert.throws(() => aggregator.addSummary(summary), { code: 'BUG' })
})

test('windows without points beside few points are those of each window by itself', () => {
  const points = columnsOf([1, 0, 5, 7, 2, 0, 3], [3, 5])
  points.times.set([0, 40, 41, 300, 301, 500, 900])
  const edges = Float64Array.from({ length: 200 }, (_, i) => 20 + 5 * i)
  const now = 700
  const windows = new WindowAggregator(edges, AGGREGATE_NAMES, now)
  windows.add(sliceColumns(points, 0, 3))
  windows.add(sliceColumns(points, 3, 7))
  const found = windows.finish()
  const rises = windows.rises()
  for (let w = 0; w + 1 < edges.length; w++) {
    const one = new WindowAggregator(edges.subarray(w, w + 2), AGGREGATE_NAMES, now)
    one.add(points)
    for (const [name, column] of Object.entries(one.finish()))
      assert.equal(found[name as AggregateName]![w], column[0], `${name} of window ${w}`)
    assert.deepEqual(rises[w], one.rises()[0], `rises of window ${w}`)
  }
})

test('windows without points are not closed one by one', () => {
  const edges = Float64Array.from({ length: 1_001 }, (_, i) => i)
  const windows = new WindowAggregator(edges, ['avg', 'median'])
  windows.add(columnsOf([1]))
  let reset = 0
  const original = Moments.prototype.reset
  Moments.prototype.reset = function (this: Moments) {
    reset++
    original.call(this)
  }
  try {
    windows.finish()
  } finally {
    Moments.prototype.reset = original
  }
  assert.equal(windows.closed, 1_000)
  assert.ok(reset <= 1, `${reset} windows were looked at`)
})
