import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { AGGREGATE_WORDS } from './aggregate-words.ts'

const page = readFileSync(new URL('../../../docs/multi.md', import.meta.url), 'utf8')

test('docs/multi.md has every name of an aggregate and every field, and no other', () => {
  const table = page.slice(
    page.indexOf('| name | field | over | value |'),
    page.indexOf('Counts and durations of nothing'),
  )
  const rows = table
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('|'))
  const cells = rows.map((line) => line.split('|').map((cell) => cell.trim()))
  assert.deepEqual(cells.flatMap(([, names]) => names!.split(', ')).sort(), [...AGGREGATE_WORDS].sort())
  const fields = cells.flatMap(([, , names]) => names!.split(', ').map((name) => name.replaceAll('`', '')))
  assert.deepEqual(fields.sort(), [...AGGREGATE_NAMES, 'var', 'states'].sort())
})
