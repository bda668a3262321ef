import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepSeries, range, rows, sourceOf } from '../../graph/deep.fixture.ts'

test('a function of very many arguments lets others in however few of them differ', async (t) => {
  const ones = Array(4_000).fill('1').join()
  const wrap = (inner: string) => `MEDIAN(${inner},${ones})`
  const series = deepSeries({ levels: 1, leaf: 'h/A', wrap }, sourceOf(rows))
  const pause = t.mock.method(series.evaluation, 'pause')
  const times = Float64Array.from({ length: 5_000 }, (_, i) => range.from + i)
  assert.deepEqual(await series.valuesAt(times), new Float64Array(5_000).fill(1))
  // 20 million arguments, a million of them at a time.
  assert.ok(pause.mock.callCount() >= 20, `${pause.mock.callCount()} pauses`)
})
