import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Rounding, RoundingUnit } from './decimal-rounding.ts'

function toDecimals(x: number, decimals: number, rounding: Rounding): number {
  const unit = new RoundingUnit()
  unit.setDecimals(decimals)
  return unit.round(x, rounding)
}

function toMultiple(x: number, multiple: number, rounding: Rounding): number {
  const unit = new RoundingUnit()
  unit.setMultiple(multiple)
  return unit.round(x, rounding)
}

/** A decimal text times 10^places, cut to an integer; `whole` says whether nothing was cut. */
function shifted(text: string, places: number): { integer: bigint; whole: boolean } {
  const [, sign, before, after = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text)!
  const digits = before + after
  const point = before!.length + Number(exponent) + places
  const kept = point <= 0 ? '0' : digits.slice(0, point).padEnd(point, '0')
  const cut = point <= 0 ? digits : digits.slice(point)
  return { integer: BigInt(`${sign}${kept}`), whole: /^0*$/.test(cut) }
}

/** Rounds with integers of 800 decimals, in which every double is whole. */
function slowly(x: number, multiple: bigint, rounding: Rounding): number {
  const { integer, whole } = shifted(String(Math.abs(x)), 800)
  assert.ok(whole)
  const below = integer / multiple
  const rest = integer - below * multiple
  const up =
    rest > 0n && (rounding === 'away' || (rounding === 'nearest' && rest + rest >= multiple)) ? 1n : 0n
  const result = Number(`${(below + up) * multiple}e-800`)
  return x < 0 && result !== 0 ? -result : result
}

const roundings = fc.constantFrom<Rounding>('nearest', 'away', 'towards')

/** Numbers as people write them, near multiples and halves, and any doubles. */
const numbers = fc.oneof(
  fc.tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: -8, max: 8 })).map(decimal),
  fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: -8, max: 8 }), fc.nat(4))
    .map(([digits, exponent, steps]) => neighbour(decimal([digits, exponent]), steps - 2)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

function decimal([digits, exponent]: readonly [number, number]): number {
  return Number(`${digits}e${exponent}`)
}

/** The double that many doubles further from zero. */
function neighbour(x: number, steps: number): number {
  const bits = new BigInt64Array(Float64Array.of(x).buffer)
  if (x !== 0) bits[0]! += BigInt(steps)
  return new Float64Array(bits.buffer)[0]!
}

test('to decimals, every double is rounded as the decimal that is printed', () => {
  fc.assert(
    fc.property(
      numbers,
      fc.integer({ min: -320, max: 340 }),
      fc.integer({ min: -9, max: 9 }),
      roundings,
      (x, far, near, rounding) => {
        for (const decimals of [far, near]) {
          const expected = slowly(x, 10n ** BigInt(800 - decimals), rounding)
          assert.equal(
            toDecimals(x, decimals, rounding),
            expected === 0 ? 0 : expected,
            `${x} to ${decimals}`,
          )
        }
      },
    ),
    { numRuns: 3000 },
  )
})

test('to multiples, both numbers are the decimals that are printed', () => {
  fc.assert(
    fc.property(numbers, numbers, roundings, (x, multiple, rounding) => {
      fc.pre(multiple !== 0)
      const { integer } = shifted(String(Math.abs(multiple)), 800)
      const expected = slowly(x, integer, rounding)
      assert.equal(toMultiple(x, multiple, rounding), expected === 0 ? 0 : expected, `${x} to ${multiple}`)
    }),
    { numRuns: 3000 },
  )
})

test('numbers right at halves and multiples, and next to them', () => {
  const cases: readonly (readonly [
    x: number,
    decimals: number,
    nearest: number,
    away: number,
    towards: number,
  ])[] = [
    [12.345, 2, 12.35, 12.35, 12.34],
    [1.005, 2, 1.01, 1.01, 1],
    [2.675, 2, 2.68, 2.68, 2.67],
    [-2.5, 0, -3, -3, -2],
    [0.5, 0, 1, 1, 0],
    [0.49999999999999994, 0, 0, 1, 0],
    [12.344999999999999, 2, 12.34, 12.35, 12.34],
    [1250, -2, 1300, 1300, 1200],
    [0.1, 1, 0.1, 0.1, 0.1],
    [0.3, 20, 0.3, 0.3, 0.3],
    [1e300, 2, 1e300, 1e300, 1e300],
    [1e300, -300, 1e300, 1e300, 1e300],
    [5e299, -300, 1e300, 1e300, 0],
    [5e-324, 0, 0, 1, 0],
    [5e-324, 324, 5e-324, 5e-324, 5e-324],
    [9007199254740992, -1, 9007199254740990, 9007199254741000, 9007199254740990],
    [1, 1e300, 1, 1, 1],
    [1, -1e300, 0, Number.POSITIVE_INFINITY, 0],
    [0, -5, 0, 0, 0],
  ]
  for (const [x, decimals, nearest, away, towards] of cases) {
    assert.equal(toDecimals(x, decimals, 'nearest'), nearest, `${x} to ${decimals}`)
    assert.equal(toDecimals(x, decimals, 'away'), away, `${x} away to ${decimals}`)
    assert.equal(toDecimals(x, decimals, 'towards'), towards, `${x} towards 0 to ${decimals}`)
  }
})

test('no value stays no value, and 0 has no sign', () => {
  assert.ok(Number.isNaN(toDecimals(Number.NaN, 2, 'nearest')))
  assert.ok(Object.is(toDecimals(-0.4, 0, 'nearest'), 0))
  assert.ok(Object.is(toDecimals(-0, 0, 'away'), 0))
})

test('a unit may change from number to number', () => {
  const unit = new RoundingUnit()
  unit.setDecimals(1)
  assert.equal(unit.round(0.25, 'nearest'), 0.3)
  unit.setMultiple(0.2)
  assert.equal(unit.round(0.25, 'nearest'), 0.2)
  unit.setDecimals(1)
  assert.equal(unit.round(0.25, 'nearest'), 0.3)
  unit.setMultiple(0.2)
  unit.setMultiple(-0.25)
  assert.equal(unit.round(0.25, 'nearest'), 0.25)
})
