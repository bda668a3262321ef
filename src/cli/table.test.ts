import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTable, printable } from './table.ts'

describe('tables', () => {
  it('pad columns to their widest cell, numbers to the right', () => {
    const table = formatTable(
      ['tag', 'value'],
      [
        ['a', '1'],
        ['long', '-22.5'],
      ],
      new Set([1]),
    )
    assert.equal(table, 'tag   value\na         1\nlong  -22.5\n')
  })

  it('show control characters instead of sending them to the terminal', () => {
    assert.equal(printable('a\x1b[2J\n\u0007\u202e\u0085b'), 'a\\u001b[2J\\n\\u0007\\u202e\\u0085b')
    assert.equal(printable('Durchfluß 流量 🙂'), 'Durchfluß 流量 🙂')
  })
})
