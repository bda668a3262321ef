import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs } from '../../time/instant.ts'
import { ArraySource } from '../graph/array-source.fixture.ts'
import type { Chunk } from '../graph/chunk.ts'
import { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import { SegmentReader } from './segments.ts'

const POINTS = 400
const [from, to] = [instantFromUs(0), instantFromUs(POINTS)]

/** A signal that is its time, whose values take half a millisecond each. */
function slowOperator(levels: number, width: number, lengths: number[]): Operator {
  const times = Float64Array.from({ length: POINTS }, (_, i) => i)
  const chunk: Chunk = {
    ...{ from, to, raw: { times, values: times, statuses: new Uint8Array(POINTS) } },
    valuesAt: (times) => {
      lengths.push(times.length)
      const until = performance.now() + 0.5 * times.length
      while (performance.now() < until);
      return times.slice()
    },
  }
  const chunks = [chunk]
  const stream = { next: async () => chunks.shift() ?? null }
  return { levels, width, linear: true, extrapolationLimits: [], chunks: () => stream } as unknown as Operator
}

for (const [what, levels, width] of [
  ['deep', 50, 1],
  ['wide', 2, 600],
] as const) {
  test(`segments of a ${what} operator are worked out in steps, with the values of one`, async () => {
    const lengths: number[] = []
    const evaluation = new Evaluation({ source: new ArraySource(new Map()) })
    const range = { from, to, order: 'asc', page: 1_000, extent: 'all' } as const
    const reader = new SegmentReader(slowOperator(levels, width, lengths), evaluation, range)
    const segments = await reader.next()
    assert.ok(Math.max(...lengths) <= 16, `${lengths}`)
    assert.deepEqual(segments!.at, segments!.times)
    assert.deepEqual(segments!.before, segments!.times)
    assert.equal(segments!.times.length, POINTS + 1)
    assert.equal(await reader.next(), null)
  })
}
