import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { showInput } from './show-input.ts'

test('a text is shown as it is, anything else as its JSON, what is missing as null', () => {
  assert.equal(showInput('not a time'), 'not a time')
  assert.equal(showInput(''), '')
  assert.equal(showInput(12.5), '12.5')
  assert.equal(showInput({ a: [1, null, 'x'] }), '{"a":[1,null,"x"]}')
  assert.equal(showInput(undefined), 'null')
  assert.equal(showInput(null), 'null')
})

test('a number that overflowed is not called null', () => {
  assert.equal(showInput(JSON.parse('1e999')), 'Infinity')
})

test('what is shown is the beginning of the JSON text, cut after 100 characters', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      const shown = showInput(value)
      assert.ok(text.startsWith(shown))
      assert.ok(text.length <= 100 ? shown === text : shown.length >= 99 && shown.length <= 100)
    }),
  )
})

test('a surrogate pair is not cut in two', () => {
  assert.equal(showInput(`${'x'.repeat(99)}😀`), 'x'.repeat(99))
})

test('a value nested a million deep is shown like any other', () => {
  const deep = JSON.parse('['.repeat(1_000_000) + ']'.repeat(1_000_000))
  assert.equal(showInput(deep), '['.repeat(100))
  assert.equal(showInput({ a: deep }), `{"a":${'['.repeat(95)}`)
})
