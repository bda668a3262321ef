import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { changeBetween } from '../operators/map/monotone.ts'
import { bandOf, withinNumber, withinPercent } from './ifequals.ts'

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -100, max: 100 }),
  fc.constantFrom(0.1, 1e-289, 1e289),
)
const band = fc.oneof(
  fc.double({ min: 0, max: 1e6, noNaN: true }).map(withinNumber),
  fc.oneof(fc.constantFrom(0, 0.01, 10), fc.double({ min: 0, max: 10, noNaN: true })).map(withinPercent),
)

/** So many doubles on both sides of one. */
function beside(x: number, count: number): readonly number[] {
  const found: number[] = []
  for (let [low, high, i] = [x, x, 0]; i < count; i++) {
    ;[low] = changeBetween(-Number.MAX_VALUE, low, (y) => y >= low) as [number]
    high = changeBetween(high, Number.MAX_VALUE, (y) => y > high)[1]!
    found.push(low, high)
  }
  return found
}

test('numbers between two thresholds are all equal to the number or none of them is, to the last bit', () => {
  let compared = 0
  fc.assert(
    fc.property(band, number, fc.array(number), (band, one, more) => {
      const thresholds = bandOf(band, one)
      if (thresholds === null) return
      compared++
      const near = thresholds.flatMap((x) => (Math.abs(x) < Number.MAX_VALUE ? beside(x, 12) : []))
      const probes = [...near, ...more].filter((x) => !thresholds.includes(x)).sort((a, b) => a - b)
      for (let i = 1; i < probes.length; i++) {
        const [from, to] = [probes[i - 1]!, probes[i]!]
        if (thresholds.some((threshold) => threshold >= from && threshold <= to)) continue
        assert.equal(band.holds(to, one), band.holds(from, one), `${from} and ${to} with ${thresholds}`)
      }
    }),
    { numRuns: 1_500 },
  )
  assert.ok(compared > 500)
})
