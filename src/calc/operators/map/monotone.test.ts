import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { changeBetween, thresholdsBelow } from './monotone.ts'

/** Numbers of all sizes, and small ones that meet. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0.1, 1e-300, 1e300, 1e308, 5e-324, -0.3),
)

type Step = (x: number) => number
const step: fc.Arbitrary<Step> = fc.oneof(
  number.map(
    (c): Step =>
      (x) =>
        x + c,
  ),
  number.map(
    (c): Step =>
      (x) =>
        c - x,
  ),
  number.map(
    (c): Step =>
      (x) =>
        x * c,
  ),
  number.map(
    (c): Step =>
      (x) =>
        x / c,
  ),
)

const after = (x: number) => changeBetween(x, Number.MAX_VALUE, (y) => y > x)[1]!
const before = (x: number) => changeBetween(-Number.MAX_VALUE, x, (y) => y >= x)[0]!

test('numbers on one side of all thresholds have values on one side of the comparison, to the last bit', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 3 }),
      number,
      fc.array(number),
      (steps, limit, more) => {
        const compute = (x: number): number => {
          const value = steps.reduce((value, step) => step(value), x)
          return Number.isFinite(value) ? value : Number.NaN
        }
        const thresholds = thresholdsBelow(compute, [limit])
        if (thresholds === null) {
          assert.ok(Number.isNaN(compute(0)))
          return
        }
        const side = (x: number) => {
          const value = compute(x)
          return Number.isNaN(value) ? 'none' : Number(value > limit) - Number(value < limit)
        }
        const near = thresholds.flatMap((x) => (Math.abs(x) < Number.MAX_VALUE ? [before(x), after(x)] : []))
        const probes = [...near, ...more].filter((x) => !thresholds.includes(x)).sort((a, b) => a - b)
        for (let i = 1; i < probes.length; i++) {
          const [from, to] = [probes[i - 1]!, probes[i]!]
          if (thresholds.some((threshold) => threshold >= from && threshold <= to)) continue
          assert.equal(side(to), side(from), `${from} and ${to} with thresholds ${thresholds}`)
        }
      },
    ),
    { numRuns: 3_000 },
  )
})

test('thresholds stand beside each other where the answer changes', () => {
  assert.deepEqual(
    thresholdsBelow((x) => 2 * x + 1, [7]),
    [2.9999999999999996, 3, 3.0000000000000004],
  )
  assert.deepEqual(
    thresholdsBelow((x) => 0 * x, [5]),
    [Number.MAX_VALUE],
  )
})
