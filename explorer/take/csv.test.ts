import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvLine, tabLine } from './csv.ts'

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('=1+1', '+x', '-x', '@a', '\ttab', '\rreturn', 'a,"b"\r\n', ' a'),
)
const cells = fc.array(text, { minLength: 2, maxLength: 4 })

test('any text comes back from a file, and none begins like a formula', () => {
  fc.assert(
    fc.property(cells, (written) => {
      const [row] = parse(csvLine(written)) as string[][]
      for (const [index, cell] of row!.entries()) {
        const isChanged = cell !== written[index]
        assert.equal(cell, isChanged ? `'${written[index]}` : written[index])
        if (!/^-\d/.test(cell)) assert.doesNotMatch(cell, /^[=+\-@\t\r]/)
      }
    }),
  )
})

test('numbers stay numbers', () => {
  assert.equal(csvLine(['-1.5', '2e-7', '+1', '=1', '-x']), "-1.5,2e-7,'+1,'=1,'-x\r\n")
})

test('a line for pasting has no tabs but those between cells', () => {
  assert.equal(tabLine(['a\tb', '=1', '-2']), "a b\t'=1\t-2\n")
})
