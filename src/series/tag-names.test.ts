import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareNames, foldCase } from './tag-names.ts'

const wellFormed = fc.string({ unit: 'binary', maxLength: 12 })

test('names are ordered as their UTF-8 bytes are', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, (a, b) => {
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b))
      assert.equal(Math.sign(compareNames(a, b)), bytes)
    }),
    { numRuns: 2_000 },
  )
  assert.ok(compareNames('\u{1F525}', '\uffff') > 0)
  assert.ok(compareNames('a', 'ab') < 0)
  assert.equal(compareNames('', ''), 0)
})

test('case is folded in every script, character by character', () => {
  const alike = (a: string, b: string) => assert.equal(foldCase(a), foldCase(b), `${a} and ${b}`)
  alike('PUMP', 'pump')
  alike('ÆØÅ', 'æøå')
  alike('Σίσυφος', 'ΣΊΣΥΦΟΣ')
  alike('НАСОС', 'насос')
  alike('\u{10400}', '\u{10428}')
  assert.notEqual(foldCase('ß'), foldCase('ss'))
})

test('the fold of a beginning is the beginning of the fold, and folding twice changes nothing', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, (a, b) => {
      assert.equal(foldCase(a + b), foldCase(a) + foldCase(b))
      assert.equal(foldCase(foldCase(a)), foldCase(a))
      assert.equal([...foldCase(a)].length, [...a].length)
    }),
    { numRuns: 2_000 },
  )
})
