import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AggregateAccumulator, summarize, WindowAggregator } from './aggregate.ts'
import { AGGREGATE_NAMES } from './aggregate-names.ts'
import { makeColumns, type PointColumns, STATUS_BAD, sliceColumns } from './columns.ts'

const NAMES = AGGREGATE_NAMES.filter((name) => name !== 'timeAvg')

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
        const windows = new WindowAggregator(edges, AGGREGATE_NAMES)
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
  const whole = new AggregateAccumulator({ median: true })
  whole.add(columnsOf(values))
  const merged = new AggregateAccumulator({ median: false })
  for (let i = 0; i < values.length; i += 777) merged.merge(summarize(columnsOf(values.slice(i, i + 777))))
  for (const accumulator of [whole, merged]) {
    assert.ok(Math.abs(accumulator.value('variance') / expected - 1) < 1e-9)
    assert.equal(accumulator.value('avg'), 1e6)
    assert.equal(accumulator.value('sum'), 2e10)
  }
  assert.equal(whole.value('median'), 1e6)
})

test('a sum does not lose small values between large ones', () => {
  const window = new AggregateAccumulator({ median: false })
  window.add(columnsOf([1e16, 1, 1, 1, 1, -1e16]))
  assert.equal(window.value('sum'), 4)
})

test('a mean of huge values exists where their sum does not', () => {
  const window = new AggregateAccumulator({ median: true })
  window.add(columnsOf([1.5e308, 1.5e308, 1.5e308]))
  assert.ok(Math.abs(window.value('avg') / 1.5e308 - 1) < 1e-15)
  assert.equal(window.value('median'), 1.5e308)
  assert.ok(Number.isNaN(window.value('sum')))
})

test('a summary merged into a window that wants its median is a bug, not a wrong median', () => {
  const window = new AggregateAccumulator({ median: true })
  assert.throws(() => window.merge(summarize(columnsOf([1]))), { code: 'BUG' })
})
