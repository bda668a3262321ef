import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatInstant } from '../time/format.ts'
import { END_INSTANT, type Instant, MIN_INSTANT } from '../time/instant.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import { makeOutputBuffer, type OutputBuffer } from './buffer-pool.ts'
import { LIST_SLACK, MillisWriter, NumberWriter, TimestampTemplate } from './json-bytes.ts'

function written(write: (buffer: OutputBuffer) => number): string {
  const buffer = makeOutputBuffer(64)
  return buffer.bytes.toString('latin1', 0, write(buffer))
}

/** A column as a list that is full after every few numbers. */
function writtenList(list: NumberWriter | MillisWriter, length: number): string {
  let text = ''
  while (list.reached < length) {
    const buffer = makeOutputBuffer(40 + LIST_SLACK)
    text += buffer.bytes.toString('latin1', 0, list.writeList(buffer, 0, 40))
  }
  return text
}

/** Each number of a column, written alone. */
function writtenNumbers(...values: number[]): string[] {
  const numbers = new NumberWriter(Float64Array.from(values))
  return values.map((_, i) => written((buffer) => numbers.write(buffer, 0, i)))
}

/** JSON.stringify leaves out the sign of -0, which JSON.parse reads. */
function textOf(value: number): string {
  return Object.is(value, -0) ? '-0' : JSON.stringify(value)
}

test('a number is written as JSON.stringify writes it, and -0 with its sign', () => {
  const same = (value: number) => assert.deepEqual(writtenNumbers(value), [textOf(value)])
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

test('columns that mix short and long numbers are written as JSON.stringify writes each', () => {
  const short = fc.integer({ min: -(10 ** 7), max: 10 ** 7 }).map((digits) => digits / 1000)
  const long = fc.double()
  const runs = fc.array(
    fc.oneof(
      fc.array(short, { maxLength: 20 }),
      fc.array(long, { maxLength: 20 }),
      fc.array(fc.constantFrom(-0, 0, 1 / 3), { maxLength: 20 }),
      fc.tuple(long, fc.nat(1200)).map(([value, length]) => new Array<number>(length).fill(value)),
    ),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(runs, (parts) => {
      const values = parts.flat()
      assert.deepEqual(writtenNumbers(...values), values.map(textOf))
      const list = writtenList(new NumberWriter(Float64Array.from(values)), values.length)
      assert.equal(list.slice(1), values.map(textOf).join(','))
    }),
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
          const text = written(({ view }) => templates[index]!.write(view, 0, instant))
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
  for (const [us, text] of cases) {
    assert.equal(writtenList(new MillisWriter(Float64Array.of(us)), 1), `,${text}`)
    assert.equal(exactMillis(us), text)
  }
})

/** Microseconds as milliseconds, by whole numbers alone. */
function exactMillis(us: number): string {
  const digits = String(Math.abs(us)).padStart(4, '0')
  const fraction = digits.slice(-3).replace(/0+$/, '')
  return `${us < 0 ? '-' : ''}${digits.slice(0, -3)}${fraction === '' ? '' : `.${fraction}`}`
}

test('a list of milliseconds has the digits of each', () => {
  const near = fc.tuple(fc.integer({ min: MIN_INSTANT, max: END_INSTANT - 1 }), fc.nat(3_000_000_000))
  fc.assert(
    fc.property(fc.array(near, { maxLength: 30 }), (pairs) => {
      const times = pairs.flatMap(([at, step]) => [at, at, Math.min(at + step, END_INSTANT - 1)])
      const each = times.map(exactMillis)
      const list = writtenList(new MillisWriter(Float64Array.from(times)), times.length)
      assert.equal(list.slice(1), each.join(','))
    }),
  )
})
