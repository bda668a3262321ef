import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonBytes } from './json-bytes.ts'

const numbers = fc.oneof(
  fc.double().map((value) => JSON.stringify(value)),
  fc.double({ min: -1e6, max: 1e6 }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
  fc.maxSafeInteger().map((value) => `${value}`),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 24 }))
    .map(([digits, decimals]) => {
      const text = String(digits).padStart(decimals + 1, '0')
      return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
    }),
  fc.string({ unit: fc.constantFrom(...'0123456789.-+eE'), minLength: 1, maxLength: 30 }),
)

function parsed(text: string): number | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function check(text: string): void {
  const target = new Float64Array(1)
  for (const behind of [',', '                      ']) {
    const json = new JsonBytes(new TextEncoder().encode(`[${text}${behind}`))
    json.at = 1
    const value = parsed(text)
    const isRead = json.readNumber(target, 0) && json.at === 1 + text.length
    if (value === null || !Number.isFinite(value)) assert.ok(!isRead, text)
    else if (text.length < 60) {
      assert.ok(isRead, text)
      assert.ok(Object.is(target[0], value), `${text} was read as ${target[0]}`)
    }
  }
}

test('a number is the double that JSON.parse gives, and nothing else is one', () => {
  fc.assert(fc.property(numbers, check), { numRuns: 5_000 })
})

test('numbers near the middle of two doubles, long ones and those at the edges of what is exact', () => {
  const cases = [
    ...[
      '0',
      '-0',
      '0.0',
      '-0.000',
      '00',
      '01',
      '-',
      '.5',
      '5.',
      '1.e5',
      '1e',
      '1e+',
      '1e5',
      '1E-7',
      '1e999',
      '-1e400',
    ],
    ...[
      '9007199254740993',
      '9007199254740992.5',
      '999999999999999',
      '9999999999999999',
      '99999999999999999999',
    ],
    ...['0.1000000000000000055511151231257827', '1.0000000000000001110223024625156', '4503599627370497.5'],
    ...['0.30000000000000004', '123456789012345.67', '0.000000000000000000000123', '18014398509481985'],
    ...[
      '1234567890',
      '123456789.5',
      '12345.6789012345',
      '0.12345678901234567',
      '100000000000000000',
      '5e-324',
    ],
  ]
  for (const each of cases) check(each)
})

test('a string ends at its quote; one with an escape, a control character or without an end is none', () => {
  const lengthOf = (text: string) => new JsonBytes(new TextEncoder().encode(text)).stringLength()
  assert.equal(lengthOf('abc",'), 3)
  assert.equal(lengthOf('"'), 0)
  assert.equal(lengthOf('ü"'), 2)
  for (const text of ['abc', 'a\\"b"', 'a\nb"', '']) assert.equal(lengthOf(text), -1)
})
