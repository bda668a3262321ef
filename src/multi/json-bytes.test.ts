import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatInstant } from '../time/format.ts'
import { END_INSTANT, type Instant, MIN_INSTANT } from '../time/instant.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import { TimestampTemplate, writeMillis, writeNumber } from './json-bytes.ts'

const decode = new TextDecoder()

function written(write: (bytes: Uint8Array) => number): string {
  const bytes = new Uint8Array(64)
  return decode.decode(bytes.subarray(0, write(bytes)))
}

test('a number is written as JSON.stringify writes it', () => {
  const same = (value: number) =>
    assert.equal(
      written((bytes) => writeNumber(bytes, 0, value)),
      JSON.stringify(value),
    )
  const cases = [
    0, -0, 1, -1, 0.1, 0.0001, 0.00001, -0.5, 99999.9999, 99999.99999, 100000, 5e-324, 1.7e308, 1e21,
  ]
  for (const value of [...cases, 123.456, 2 ** 31, 2 ** 53, 0.1 + 0.2, Number.NaN]) same(value)
  fc.assert(fc.property(fc.double({ noNaN: true }), same))
  // Decimals of every length, which is where the fast path begins and ends.
  fc.assert(
    fc.property(
      fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
      fc.integer({ min: 0, max: 8 }),
      (digits, places) => same(digits / 10 ** places),
    ),
    { numRuns: 5000 },
  )
})

test('a timestamp is written as formatInstant writes it, in any order, between its texts', () => {
  const zones = [
    UTC,
    parseTimeZone('Europe/Oslo')!,
    parseTimeZone('Australia/Lord_Howe')!,
    parseTimeZone('Africa/Monrovia')!,
  ]
  const templates = zones.map((zone) => new TimestampTemplate('<', zone, '>'))
  fc.assert(
    fc.property(
      fc.integer({ min: MIN_INSTANT, max: END_INSTANT - 1 }),
      fc.nat(3),
      fc.nat(200_000_000),
      (at, index, step) => {
        for (const instant of [at, Math.min(at + step, END_INSTANT - 1)] as Instant[]) {
          const text = written((bytes) => templates[index]!.write(bytes, 0, instant))
          assert.equal(text, `<${formatInstant(instant, zones[index]!)}>`)
        }
      },
    ),
    { numRuns: 2000 },
  )
})

test('milliseconds keep every microsecond', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0'],
    [1, '0.001'],
    [-1, '-0.001'],
    [1500, '1.5'],
    [-1_000_001, '-1000.001'],
    [7_258_118_399_999_999, '7258118399999.999'],
    [-8_520_335_999_999_999, '-8520335999999.999'],
  ]
  for (const [us, text] of cases)
    assert.equal(
      written((bytes) => writeMillis(bytes, 0, us)),
      text,
    )
})
