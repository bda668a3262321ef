import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deviationOf, maxOf, meanOf, medianOf, minOf, type Statistic, varianceOf } from './statistics.ts'

const numbers = fc.array(
  fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, min: -1e6, max: 1e6 })),
  {
    minLength: 1,
    maxLength: 60,
  },
)

/** Of the first values of a longer column, as they are called. */
function of(statistic: Statistic, values: readonly number[]): number {
  return statistic(Float64Array.of(...values, 7e9, -7e9), values.length)
}

function assertClose(actual: number, expected: number, what: string): void {
  assert.ok(
    Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${what}: ${actual}, ${expected}`,
  )
}

test('smallest, largest and middle are those of the sorted values', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const sorted = values.toSorted((a, b) => a - b)
      const n = values.length
      assert.equal(of(minOf, values), sorted[0])
      assert.equal(of(maxOf, values), sorted.at(-1))
      assertClose(of(medianOf, values), (sorted[(n - 1) >> 1]! + sorted[n >> 1]!) / 2, 'median')
    }),
    { numRuns: 500 },
  )
})

test('the deviation is the root of the variance, and both stay when all values move together', () => {
  fc.assert(
    fc.property(numbers, fc.integer({ min: -1000, max: 1000 }), (values, shift) => {
      const moved = values.map((value) => value + shift)
      assertClose(of(meanOf, moved), of(meanOf, values) + shift, 'mean')
      const variance = of(varianceOf, values)
      assertClose(of(deviationOf, values) ** 2, variance, 'deviation')
      assert.ok(Math.abs(of(varianceOf, moved) - variance) <= 1e-6 * Math.max(1, variance))
    }),
    { numRuns: 500 },
  )
})

test('what doubles can hold does not overflow on the way', () => {
  assert.equal(of(meanOf, [1.5e308, 1.7e308]), 1.6e308)
  assert.equal(of(medianOf, [1.5e308, 1.7e308]), 1.6e308)
  assert.equal(of(deviationOf, [1e200, -1e200]), Math.SQRT2 * 1e200)
  assertClose(of(deviationOf, [1e-200, -1e-200]) * 1e200, Math.SQRT2, 'tiny')
})
