import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArraySource } from '../../graph/array-source.fixture.ts'
import type { Limit } from '../../graph/chunk.ts'
import { Evaluation } from '../../graph/evaluation.ts'
import { KnownValues } from './known-values.ts'

/** A signal that jumps by 1 at each whole number: `at` and after it is n + 1, right before it n. */
function jumping(): { readonly asked: number[]; compute(times: Float64Array, limit: Limit): Float64Array } {
  const asked: number[] = []
  const compute = (times: Float64Array, limit: Limit): Float64Array => {
    asked.push(...times)
    return times.map((time) => (limit === 'before' ? Math.ceil(time) : Math.floor(time) + 1))
  }
  return { asked, compute }
}

const evaluation = (): Evaluation => new Evaluation({ source: new ArraySource(new Map()) })

test('each time is worked out once, whatever it is asked for with', () => {
  const { asked, compute } = jumping()
  const known = new KnownValues(new Float64Array(0), compute)
  assert.deepEqual(known.valuesAt(Float64Array.of(1, 3, 5), 'at'), Float64Array.of(2, 4, 6))
  assert.deepEqual(known.valuesAt(Float64Array.of(0, 1, 2, 5, 7), 'at'), Float64Array.of(1, 2, 3, 6, 8))
  assert.deepEqual(known.valuesAt(Float64Array.of(0, 1, 2, 3, 5, 7), 'at'), Float64Array.of(1, 2, 3, 4, 6, 8))
  assert.deepEqual(asked, [1, 3, 5, 0, 2, 7])
})

test('a limit from the left is another value than that at the time', () => {
  const { compute } = jumping()
  const known = new KnownValues(new Float64Array(0), compute)
  const times = Float64Array.of(1, 2)
  assert.deepEqual(known.valuesAt(times, 'at'), Float64Array.of(2, 3))
  assert.deepEqual(known.valuesAt(times, 'before'), Float64Array.of(1, 2))
  assert.deepEqual(known.valuesAt(times, 'at'), Float64Array.of(2, 3))
})

test('what was prepared is not worked out again, times between raw ones are', async () => {
  const { asked, compute } = jumping()
  const raw = Float64Array.from({ length: 1_000 }, (_, i) => i)
  const known = new KnownValues(raw, compute)
  await known.prepare(evaluation())
  assert.deepEqual(asked, [...raw, ...raw])
  asked.length = 0
  assert.deepEqual(known.valuesAt(Float64Array.of(3, 3.5, 4), 'at'), Float64Array.of(4, 4, 5))
  assert.deepEqual(known.valuesAt(Float64Array.of(3, 4), 'before'), Float64Array.of(3, 4))
  assert.deepEqual(asked, [3.5])
})

test('many further times are worked out, too, and not all of them kept', () => {
  const { compute } = jumping()
  const known = new KnownValues(new Float64Array(0), compute)
  for (let round = 0; round < 3; round++) {
    for (let first = 0; first < 20_000; first += 700) {
      const times = Float64Array.from({ length: 900 }, (_, i) => first + i)
      const expected = times.map((time) => time + 1)
      assert.deepEqual(known.valuesAt(times, 'at'), expected)
    }
  }
})

test('times that come a few at a time, in any order, are worked out once each', () => {
  const { asked, compute } = jumping()
  const known = new KnownValues(Float64Array.from({ length: 2_000 }, (_, i) => -i).sort(), compute)
  const all = new Set<number>()
  for (let round = 0; round < 400; round++) {
    // 7 and 1009 have no common divisor: each residue comes up.
    const times = Float64Array.from(
      { length: 1 + (round % 40) },
      (_, i) => ((round * 7 + i * 61) % 1_009) + i,
    ).sort()
    const distinct = times.filter((time, i) => i === 0 || time !== times[i - 1])
    assert.deepEqual(
      known.valuesAt(distinct, 'at'),
      distinct.map((time) => time + 1),
    )
    for (const time of distinct) all.add(time)
  }
  assert.equal(asked.length, all.size)
  assert.ok(all.size > 1_000)
})
