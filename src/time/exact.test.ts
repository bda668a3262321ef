import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { divideSpan } from './exact.ts'
import { END_INSTANT, MIN_INSTANT } from './instant.ts'
import { anyInstant } from './time.fixture.ts'

/** Rounded down, in whole numbers of any size. */
function reference(from: number, to: number, divisor: number): { quotient: number; remainder: number } {
  const [span, by] = [BigInt(to) - BigInt(from), BigInt(divisor)]
  const remainder = ((span % by) + by) % by
  return { quotient: Number((span - remainder) / by), remainder: Number(remainder) }
}

test('spans are divided exactly, negative ones and those beyond 2^53 too', () => {
  assert.deepEqual(divideSpan(0, 7, 3), { quotient: 2, remainder: 1 })
  assert.deepEqual(divideSpan(7, 0, 3), { quotient: -3, remainder: 2 })
  assert.deepEqual(divideSpan(6, 0, 3), { quotient: -2, remainder: 0 })
  const [from, to] = [MIN_INSTANT + 1, END_INSTANT - 2]
  assert.deepEqual(divideSpan(from, to, 10), reference(from, to, 10))
  assert.deepEqual(divideSpan(to, from, 10), reference(to, from, 10))
  fc.assert(
    fc.property(
      anyInstant,
      anyInstant,
      fc.integer({ min: 2, max: Number.MAX_SAFE_INTEGER }),
      (a, b, divisor) => {
        assert.deepEqual(divideSpan(a, b, divisor), reference(a, b, divisor))
      },
    ),
    { numRuns: 1000 },
  )
})
