import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  keyProblem,
  lineKey,
  lineMeasurement,
  lineNumber,
  lineText,
  measurementProblem,
  valueProblem,
} from './line-protocol.ts'

test('what separates the parts of a line is escaped in names, and only that', () => {
  assert.equal(lineMeasurement('a b,c=d"\\e'), 'a\\ b\\,c=d"\\e')
  assert.equal(lineKey('a b,c=d"\\e'), 'a\\ b\\,c\\=d"\\e')
  assert.equal(lineText('say "x\\n",\nplease = y'), '"say \\"x\\\\n\\",\nplease = y"')
})

test('a number keeps every digit and the sign of zero', () => {
  assert.deepEqual([0, -0, 1, 0.1 + 0.2, 5e-324, -1e300].map(lineNumber), [
    '0',
    '-0',
    '1',
    '0.30000000000000004',
    '5e-324',
    '-1e+300',
  ])
})

test('names that a line cannot contain are reported', () => {
  assert.equal(valueProblem("it's, = \\ all right \\="), null)
  assert.equal(keyProblem("it's, = \\all right"), null)
  for (const name of ['', 'ends in \\', 'two\nlines', 'carriage\rreturn']) {
    assert.notEqual(valueProblem(name), null)
    assert.notEqual(keyProblem(name), null)
  }
  assert.equal(keyProblem('#1'), null)
  assert.notEqual(measurementProblem('#1'), null)
  for (const name of ['a\\,b', 'a\\ b', 'a\\=b', 'a\\"b']) assert.notEqual(keyProblem(name), null)
})
