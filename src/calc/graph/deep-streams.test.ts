import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepSeries, range, rows, sourceOf } from './deep.fixture.ts'

/** Ranges that a call keeps, of some 2 kB each, before its budget is used up. */
const MOST_RANGES = 30_000

test('functions inside each other that read ever more ranges end by the budget before they fill the memory', async () => {
  let level = 0
  const wrap = (inner: string) =>
    level++ % 2 === 0 ? `TOTALISE(${inner},DAY,BEGIN_DAY,1h)` : `SLIDINGAGG(${inner},DIFF,1h)`
  const series = deepSeries({ levels: 50, leaf: 'dates/DAY_UTC', wrap }, sourceOf(rows))
  let opened = 0
  const { evaluation } = series
  const retains = evaluation.retains.bind(evaluation)
  evaluation.retains = (values) => {
    opened++
    return retains(values)
  }
  await assert.rejects(series.valuesAt(Float64Array.of(range.to)), { code: 'LIMIT_EVALUATED_VALUES' })
  assert.ok(opened < MOST_RANGES, `${opened} chunks were kept`)
})
