import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName, Warnings } from './warnings.ts'

const DETAILS = ['from', 'to', 'maxPoints', 'order']

function sentences(body: string, known: readonly string[] = DETAILS): readonly string[] {
  const warnings = new Warnings()
  warnings.checkFields(JSON.parse(body), known, 'the details of RAW_POINTS')
  return warnings.list()
}

test('an unknown field is named with the known one that was probably meant', () => {
  assert.deepEqual(sentences('{"maxpoints": 5}'), [
    'Unknown field maxpoints in the details of RAW_POINTS was ignored; maxPoints was meant?',
  ])
  assert.deepEqual(sentences('{"colour": 5}'), [
    'Unknown field colour in the details of RAW_POINTS was ignored',
  ])
})

test('a known name that is there too was not meant', () => {
  assert.deepEqual(sentences('{"maxPoints": 5, "maxpoints": 5}'), [
    'Unknown field maxpoints in the details of RAW_POINTS was ignored',
  ])
})

test('known fields and null ones give no warning', () => {
  assert.deepEqual(sentences('{"from": 1, "to": null}'), [])
})

test('names of Object.prototype and the empty name are fields like any other', () => {
  assert.deepEqual(sentences('{"__proto__": 1, "constructor": 2, "": 3}', []), [
    'Unknown field __proto__ in the details of RAW_POINTS was ignored',
    'Unknown field constructor in the details of RAW_POINTS was ignored',
    'Unknown field "" in the details of RAW_POINTS was ignored',
  ])
})

test('a field of many places of one kind is said once, and again for another kind', () => {
  const warnings = new Warnings()
  for (let count = 0; count < 1_000; count++) warnings.checkFields({ quality: 1 }, ['value'], 'a point')
  warnings.checkFields({ quality: 1 }, ['points'], 'the call')
  assert.deepEqual(warnings.list(), [
    'Unknown field quality in a point was ignored',
    'Unknown field quality in the call was ignored',
  ])
})

test('there are at most 100 warnings, however many fields there are', () => {
  const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, index]))
  const warnings = new Warnings()
  warnings.checkFields(fields, [], 'the call')
  assert.equal(warnings.list().length, 100)
})

test('a silent name is neither warned about nor suggested', () => {
  const warnings = new Warnings()
  warnings.checkFields({ apikey: 'x', apikeys: 'y' }, [], 'the query', ['apikey'])
  assert.deepEqual(warnings.list(), ['Unknown field apikeys in the query was ignored'])
})

test('the nearest name is found without regard to case, and none where none is near', () => {
  assert.equal(nearestName('FORM', DETAILS), 'from')
  assert.equal(nearestName('max_points', DETAILS), 'maxPoints')
  assert.equal(nearestName('odrer', DETAILS), 'order')
  assert.equal(nearestName('x', DETAILS), null)
  assert.equal(nearestName('', DETAILS), null)
  assert.equal(nearestName('o'.repeat(100_000), DETAILS), null)
})
