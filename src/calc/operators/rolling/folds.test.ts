import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Windows, windowExtremes, windowIntegrals, windowSums, windowVariances } from './folds.ts'

/** Windows over items, in any order, with pivots that some of them share. */
const cases = fc
  .array(fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(Number.NaN)), { maxLength: 30 })
  .chain((items) =>
    fc.tuple(
      fc.constant(Float64Array.from(items)),
      fc.array(fc.tuple(fc.nat(items.length), fc.nat(items.length)), { maxLength: 30 }),
      fc.integer({ min: 1, max: 10 }),
    ),
  )
  .map(([items, pairs, apart]) => {
    const windows = pairs.map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
    return { items, windows: columnsOf(windows, apart) }
  })

/** @param apart how far pivots are apart */
function columnsOf(windows: readonly (readonly [first: number, end: number])[], apart = 3): Windows {
  return {
    first: Int32Array.from(windows, ([first]) => first),
    end: Int32Array.from(windows, ([, end]) => end),
    pivots: Int32Array.from(windows, ([first, end]) => Math.max(first, end - (end % apart))),
  }
}

const inside = (items: Float64Array, { first, end }: Windows, i: number): number[] =>
  [...items.slice(first[i], end[i])].filter((item) => !Number.isNaN(item))

test('each window has the aggregates of its own items, whatever starts before or after others', () => {
  fc.assert(
    fc.property(cases, ({ items, windows }) => {
      const sums = windowSums(items, windows)
      const least = windowExtremes(items, windows, 'min')
      const greatest = windowExtremes(items, windows, 'max')
      const one = {
        counts: items.map((item) => Number(!Number.isNaN(item))),
        means: items,
        squares: items.map(() => 0),
      }
      const variances = windowVariances(one, windows)
      for (let i = 0; i < sums.length; i++) {
        const values = inside(items, windows, i)
        const n = values.length
        const sum = values.reduce((total, value) => total + value, 0)
        const squares = values.reduce((total, value) => total + (value - sum / n) ** 2, 0)
        assert.equal(sums[i], sum)
        assert.equal(least[i], n === 0 ? Number.NaN : Math.min(...values))
        assert.equal(greatest[i], n === 0 ? Number.NaN : Math.max(...values))
        if (n < 2) assert.equal(variances[i], n === 0 ? Number.NaN : 0)
        else assert.ok(Math.abs(variances[i]! - squares / (n - 1)) < 1e-12)
      }
    }),
    { numRuns: 500 },
  )
})

test('ends may descend', () => {
  const items = Float64Array.of(1, 2, 4, 8)
  const windows = columnsOf([
    [0, 4],
    [1, 2],
    [0, 3],
    [3, 3],
  ])
  assert.deepEqual(windowSums(items, windows), Float64Array.of(15, 2, 7, 0))
})

/** All windows of a length over so many items. */
function sliding(items: number, length: number): Windows {
  const ends = Array.from({ length: items }, (_, i) => i + 1)
  return columnsOf(
    ends.map((end) => [Math.max(0, end - length), end]),
    length,
  )
}

test('the variance of 1,000,000 ± 0.01 keeps its digits in every window', () => {
  const values = Float64Array.from({ length: 20_000 }, (_, i) => 1e6 + (i % 2 ? 0.01 : -0.01))
  const points = { counts: values.map(() => 1), means: values, squares: values.map(() => 0) }
  const found = windowVariances(points, sliding(values.length, 10))
  // The doubles next to 1e6 ± 0.01 are what is stored, so they are what has a deviation.
  const deviation = (values[1]! - values[0]!) / 2
  for (let i = 10; i < found.length; i++)
    assert.ok(Math.abs(found[i]! / ((deviation ** 2 * 10) / 9) - 1) < 1e-12)
})

test('a variance far from where the values began has not drifted', () => {
  // A ramp of a million: every window of five values has the variance 2.5.
  const values = Float64Array.from({ length: 1_000_000 }, (_, i) => 1e9 + i)
  const points = { counts: values.map(() => 1), means: values, squares: values.map(() => 0) }
  const found = windowVariances(points, sliding(values.length, 5))
  for (let i = 4; i < found.length; i++)
    if (Math.abs(found[i]! - 2.5) > 1e-12) assert.fail(`${found[i]} at ${i}`)
})

test('a sum over a million points does not drift, and forgets what has left the window', () => {
  const values = new Float64Array(1_000_000).fill(0.1)
  values[10] = 3.4e38
  values[11] = -1.7e308
  values[12] = -1.7e308
  const found = windowSums(values, sliding(values.length, 10))
  assert.equal(found[10], 3.4e38)
  assert.equal(found[12], Number.NEGATIVE_INFINITY)
  for (let i = 22; i < found.length; i++) if (found[i] !== 1) assert.fail(`${found[i]} at ${i}`)
})

test('small values between large ones that cancel are not lost', () => {
  const values = Float64Array.of(1e16, 1, 1, 1, 1, -1e16)
  assert.equal(windowSums(values, columnsOf([[0, 6]]))[0], 4)
})

test('a sum is the same to the last bit wherever its windows begin to be added up', () => {
  const values = Float64Array.from({ length: 400 }, (_, i) => Math.sin(i) * 10 ** ((i % 31) - 15))
  const all = sliding(values.length, 50)
  const whole = windowSums(values, all)
  for (const start of [1, 7, 49, 63]) {
    const left = (indexes: Int32Array): Int32Array => indexes.slice(start)
    const some = { first: left(all.first), end: left(all.end), pivots: left(all.pivots) }
    assert.deepEqual(windowSums(values, some), whole.slice(start))
  }
})

test('an integral that overflows with both signs is not taken for one without a value', () => {
  const cells = Float64Array.of(1, Number.NaN, 2, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  const windows = columnsOf([
    [0, 1],
    [0, 2],
    [2, 3],
    [1, 4],
    [3, 5],
  ])
  assert.deepEqual(
    [...windowIntegrals(cells, windows)].map((sum) => (Number.isFinite(sum) ? sum : null)),
    [1, null, 2, null, null],
  )
})
