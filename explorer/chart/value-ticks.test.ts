import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fixedScale, niceScale, tickText, valueText, valueTicks } from './value-ticks.ts'

test('a scale holds its values, and its ticks are round and few', () => {
  const value = fc.double({ noNaN: true, min: -1e12, max: 1e12 })
  fc.assert(
    fc.property(value, value, fc.integer({ min: 2, max: 12 }), (a, b, ticks) => {
      const [least, greatest] = [Math.min(a, b), Math.max(a, b)]
      fc.pre(greatest === least || greatest - least > 1e-9 * Math.max(1, Math.abs(greatest), Math.abs(least)))
      const scale = niceScale(least, greatest, ticks)
      assert.ok(scale.low <= least && scale.high >= greatest, `${scale.low} ${scale.high}`)
      assert.ok(valueTicks(scale).length <= ticks + 3)
    }),
  )
})

test('ticks have as many decimals as their step needs', () => {
  assert.deepEqual(
    valueTicks(fixedScale(0, 1, 4)).map((value) => tickText(value, 0.5)),
    ['0', '0.5', '1.0'],
  )
  assert.equal(tickText(2_500_000, 500_000), '2500000')
  assert.equal(tickText(3e9, 1e9), '3e9')
})

test('a value is shown with six digits at most', () => {
  assert.deepEqual([63.390912, 0.333333333, 123456.78, 1e-9, null, 0, -2.5].map(valueText), [
    '63.3909',
    '0.333333',
    '123457',
    '1.000e-9',
    '–',
    '0',
    '-2.5',
  ])
})
