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

test('short decimals, all at once or digit by digit, in whatever they stand', () => {
  const target = new Float64Array(1)
  const read = (text: string, behind: string) => {
    const json = new JsonBytes(new TextEncoder().encode(`${text}${behind}`))
    return json.readNumber(target, 0) && json.at === text.length ? target[0] : null
  }
  for (let digits = 0; digits < 20_000; digits++) {
    for (let decimals = 1; decimals <= 6; decimals++) {
      const text = String(digits).padStart(decimals + 1, '0')
      const value = `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
      assert.equal(read(value, ',"a":1234567'), Number(value), value)
    }
  }
  const short = fc.tuple(
    fc.constantFrom('', '-', '--', '+'),
    fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 5 }),
    fc.constantFrom('.', '.', '..', ''),
    fc.string({ unit: fc.constantFrom(...'0123456789.eE-+/:'), maxLength: 6 }),
  )
  const behind = fc.tuple(
    fc.constantFrom(...', ]}xü/:;\u{1f600}'),
    fc.constantFrom('', '1.5,1.5', '   ', '99999999999'),
  )
  fc.assert(
    fc.property(short, behind, (parts, [next, rest]) => {
      const text = parts.join('')
      const value = parsed(text)
      const is = read(text, next + rest)
      if (value === null || !Number.isFinite(value)) assert.equal(is, null, text)
      else assert.ok(Object.is(is, value), `${text}${next}${rest} was read as ${is}`)
    }),
    { numRuns: 20_000 },
  )
})

test('timestamps of thirteen digits, whatever came before them', () => {
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length })
  const stamp = fc.tuple(
    fc.constantFrom('17684712', '17684713', '99999999', '00000000', '1768471.'),
    digits(5),
  )
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          stamp.map((parts) => parts.join('')),
          digits(13),
        ),
        { minLength: 1 },
      ),
      (texts) => {
        const json = new JsonBytes(new TextEncoder().encode(`${texts.join(',')}]   `))
        for (const [index, text] of texts.entries()) {
          const isStamp = /^[1-9]\d{12}$/.test(text)
          assert.equal(json.readStampAt(index * 14), isStamp ? Number(text) : -1)
        }
      },
    ),
  )
})

test('a string ends at its quote; one with an escape, a control character or without an end is none', () => {
  const lengthOf = (text: string) => new JsonBytes(new TextEncoder().encode(text)).stringLength()
  assert.equal(lengthOf('abc",'), 3)
  assert.equal(lengthOf('"'), 0)
  assert.equal(lengthOf('ü"'), 2)
  for (const text of ['abc', 'a\\"b"', 'a\nb"', '']) assert.equal(lengthOf(text), -1)
})
