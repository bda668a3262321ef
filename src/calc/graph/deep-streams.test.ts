import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepSeries, range, rows, sourceOf } from './deep.fixture.ts'

/** Chunks that 45 levels make of an hour: a few each. */
const MOST_CHUNKS = 450

for (const [name, wrap] of [
  [
    'totals of days over windows of hours',
    (inner, level) => (level % 2 === 0 ? totalOf(inner) : diffOf(inner, 60)),
  ],
  [
    'windows of hours over totals of days',
    (inner, level) => (level % 2 === 1 ? totalOf(inner) : diffOf(inner, 60)),
  ],
  ['averages over windows of different lengths', (inner, level) => `SLIDINGAGG(${inner},AVG,${60 + level}m)`],
  ['totals of different lengths', (inner, level) => `TOTALISE(${inner},${60 + level}m,BEGIN_DAY,1h)`],
] as const satisfies readonly (readonly [string, (inner: string, level: number) => string])[])
  for (const leaf of ['dates/DAY_UTC', 'h/A'])
    test(`${name}, of ${leaf}, read equal ranges at all levels`, async () => {
      let level = 0
      const series = deepSeries({ levels: 45, leaf, wrap: (inner) => wrap(inner, level++) }, sourceOf(rows))
      let chunks = 0
      const { evaluation } = series
      const retains = evaluation.retains.bind(evaluation)
      evaluation.retains = (values) => {
        chunks++
        return retains(values)
      }
      const [value] = await series.valuesAt(Float64Array.of(range.to))
      assert.ok(Number.isFinite(value))
      assert.ok(chunks > 0 && chunks < MOST_CHUNKS, `${chunks} chunks were made`)
    })

function totalOf(inner: string): string {
  return `TOTALISE(${inner},DAY,BEGIN_DAY,1h)`
}

function diffOf(inner: string, minutes: number): string {
  return `SLIDINGAGG(${inner},DIFF,${minutes}m)`
}
