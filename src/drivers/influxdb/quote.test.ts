import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isQuotable, quoteIdentifier, quoteString } from './quote.ts'

test('quotes, backslashes and line feeds of a text cannot end it', () => {
  assert.equal(quoteString("it's"), "'it\\'s'")
  assert.equal(quoteString('a\\'), "'a\\\\'")
  assert.equal(quoteString("\\' OR 1=1 --"), "'\\\\\\' OR 1=1 --'")
  assert.equal(quoteString('two\nlines; "x"'), `'two\\nlines; "x"'`)
  assert.equal(quoteIdentifier('a"b'), '"a\\"b"')
  assert.equal(quoteIdentifier("'"), `"'"`)
})

test('what is between quotes reads back as the text, and ends where it began to', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("'", '"', '\\', '\n', ';', '-', 'a', 'é', ' ') }),
      (text) => {
        for (const [quoted, quote] of [
          [quoteString(text), "'"],
          [quoteIdentifier(text), '"'],
        ] as const) {
          assert.equal(readBack(quoted, quote), text)
        }
      },
    ),
  )
})

test('a text that InfluxQL cannot hold is refused, never cut', () => {
  for (const text of ['a\0b', 'a\rb', '\ud800']) {
    assert.equal(isQuotable(text), false)
    assert.throws(() => quoteString(text), RangeError)
    assert.throws(() => quoteIdentifier(text), RangeError)
  }
})

/** As InfluxQL's scanner reads a quoted text that must be all there is. */
function readBack(quoted: string, quote: string): string {
  assert.equal(quoted[0], quote)
  let text = ''
  let at = 1
  for (; quoted[at] !== quote; at++) {
    assert.ok(at < quoted.length && quoted[at] !== '\n', 'the text does not end before its quote')
    if (quoted[at] !== '\\') text += quoted[at]
    else {
      at++
      assert.ok(quoted[at] === '\\' || quoted[at] === quote || quoted[at] === 'n', 'a known escape')
      text += quoted[at] === 'n' ? '\n' : quoted[at]
    }
  }
  assert.equal(at, quoted.length - 1, 'nothing comes after the quote')
  return text
}
