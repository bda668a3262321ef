import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  changeOptionalMetadata,
  decodeOptionalMetadata,
  encodeStates,
  parseStates,
} from './optional-metadata.ts'

test('states have numbers as keys, in their own order and in the shortest form, and distinct names', () => {
  const states = parseStates({ '1.50': 'half', '-1': 'back', '1e3': 'far', '-0': 'none', '02': 'two' })
  assert.deepEqual(states, { '-1': 'back', '0': 'none', '1.5': 'half', '2': 'two', '1000': 'far' })
})

test('what is no object of distinct names by number is no states', () => {
  const invalid: unknown[] = [
    null,
    'a',
    [],
    ['a'],
    {},
    { a: 'x' },
    { '': 'x' },
    { ' 1': 'x' },
    { '0x1': 'x' },
    { Infinity: 'x' },
    { '1e999': 'x' },
    { 1: '' },
    { 1: 2 },
    { 1: null },
    { 1: 'other' },
    { 1: 'x', 2: 'x' },
    { 1: 'x', '1.0': 'y' },
    { 0: 'x', '-0': 'y' },
    { 1: 'a\0b' },
    { 1: '\ud800' },
    { 1: 'x'.repeat(101) },
    JSON.parse('{"__proto__": "x"}'),
    Object.fromEntries(Array.from({ length: 201 }, (_, i) => [i, `s${i}`])),
  ]
  for (const input of invalid) assert.equal(parseStates(input), null, JSON.stringify(input))
})

test('a change keeps what it leaves out and clears what is null', () => {
  const before = { maxGap: '1s', states: { 0: 'a' } }
  assert.deepEqual(changeOptionalMetadata(before, {}), before)
  assert.deepEqual(changeOptionalMetadata(before, { maxGap: null }), { states: { 0: 'a' } })
  assert.deepEqual(changeOptionalMetadata(before, { states: null, maxGap: '2s' }), { maxGap: '2s' })
  assert.deepEqual(changeOptionalMetadata({}, { states: { 1: 'b' } }), { states: { 1: 'b' } })
})

test('texts of a historian that cannot be read are not set', () => {
  assert.deepEqual(decodeOptionalMetadata(null, null), {})
  assert.deepEqual(decodeOptionalMetadata('', ''), {})
  assert.deepEqual(decodeOptionalMetadata('5min', encodeStates({ 0: 'a' })), {
    maxGap: '5min',
    states: { 0: 'a' },
  })
  assert.deepEqual(decodeOptionalMetadata('5min', '{"0":'), { maxGap: '5min' })
  assert.deepEqual(decodeOptionalMetadata(null, '{"a":"b"}'), {})
  for (const none of ['soon', '0s', '1mo', '1M', '-1h', '1h 30min', 'NaN', 'x'.repeat(20_000)]) {
    assert.deepEqual(decodeOptionalMetadata(none, null), {}, none.slice(0, 20))
    assert.deepEqual(decodeOptionalMetadata(none, '{"0":"a"}'), { states: { 0: 'a' } })
  }
  assert.equal(encodeStates(null), '')
})
