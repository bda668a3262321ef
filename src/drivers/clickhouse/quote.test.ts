import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { quoteInt, quoteName, quoteText } from './quote.ts'

/** What a server reads from a literal, by the rules of its lexer; `null` when the text is not exactly one literal. */
function readLiteral(literal: string, mark: string): string | null {
  if (literal[0] !== mark) return null
  let text = ''
  for (let at = 1; at < literal.length; at++) {
    const character = literal[at]!
    if (character === mark) return at === literal.length - 1 ? text : null
    if (character !== '\\') {
      text += character
      continue
    }
    const next = literal[++at]
    if (next === undefined) return null
    if (next === 'x') {
      text += String.fromCharCode(Number.parseInt(literal.slice(at + 1, at + 3), 16))
      at += 2
    } else text += next
  }
  return null
}

const hostile = fc.string({
  unit: fc.constantFrom(
    "'",
    '\\',
    '`',
    '"',
    ';',
    '\n',
    '\r',
    '\0',
    '-',
    '*',
    '/',
    'x',
    '0',
    'é',
    '\u{1f525}',
    '%',
    '{',
    '}',
  ),
})

describe('a quoted value is one literal that means the value', () => {
  test('texts of anything', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (text) => {
        assert.equal(readLiteral(quoteText(text), "'"), text)
      }),
    )
  })

  test('names of anything', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        assert.equal(readLiteral(quoteName(text), '`'), text)
      }),
    )
  })

  test('no control character, comment sign or line break stays outside of a literal', () => {
    assert.equal(quoteText("a'; DROP TABLE x; --\n"), "'a\\'; DROP TABLE x; --\\x0a'")
    assert.equal(quoteText('\\'), "'\\\\'")
    assert.equal(quoteName('a`b'), '`a\\`b`')
  })

  test('whole numbers, the ends of the range for those beyond it', () => {
    const cases: readonly (readonly [number, string])[] = [
      [0, '0'],
      [-0, '0'],
      [-8_520_336_000_000_000, '-8520336000000000'],
      [Number.MAX_SAFE_INTEGER, '9007199254740991'],
      [1e18, '1000000000000000000'],
      [2 ** 70, '9223372036854775807'],
      [Number.POSITIVE_INFINITY, '9223372036854775807'],
      [Number.NEGATIVE_INFINITY, '-9223372036854775807'],
    ]
    for (const [value, literal] of cases) assert.equal(quoteInt(value), literal)
  })
})
