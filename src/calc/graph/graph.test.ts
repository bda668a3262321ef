import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepSeries, rows, sourceOf } from './deep.fixture.ts'

test('each function of a call counts as a thousand values: those of a call are bounded by the same budget', () => {
  let level = 0
  const wrap = (inner: string) => `ABS(ADD(${inner},${level++}))`
  const calculation = { levels: 20, leaf: 'h/A', wrap }
  deepSeries(calculation, sourceOf(rows), 42_000)
  assert.throws(() => deepSeries(calculation, sourceOf(rows), 39_000), { code: 'LIMIT_EVALUATED_VALUES' })
})
