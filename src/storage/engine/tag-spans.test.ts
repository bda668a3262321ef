import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ReadPace } from '../pause.ts'
import { disjointSpans } from './tag-spans.ts'

const NO_REST: ReadPace = { isDue: () => false, pause: async () => {} }

test('disjoint spans cover what spans cover, once, for the first span that does', async () => {
  const edge = fc.integer({ min: 0, max: 30 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(edge, edge), { maxLength: 10 }), async (edges) => {
      const spans = edges.map(([from, to]) => ({ from, to }))
      const disjoint = [...(await disjointSpans(spans, NO_REST))]
      for (let at = 0; at < 31; at++) {
        const expected = spans.findIndex(({ from, to }) => from <= at && at < to)
        const covering = disjoint.filter(({ from, to }) => from <= at && at < to)
        assert.deepEqual(
          covering.map(({ span }) => span),
          expected < 0 ? [] : [expected],
        )
      }
      for (let i = 1; i < disjoint.length; i++) assert.ok(disjoint[i]!.from >= disjoint[i - 1]!.to)
    }),
    { numRuns: 1_000 },
  )
})

test('disjoint parts of very many spans are sorted in steps', async () => {
  let rests = 0
  const pace: ReadPace = {
    isDue: () => true,
    pause: async () => {
      rests++
    },
  }
  const count = 30_000
  // Each covers its own microsecond and the next one's, in an order that is neither ascending nor random.
  const spans = Array.from({ length: count }, (_, i) => (i * 7_919) % count).map((from) => ({
    from,
    to: from + 2,
  }))
  const disjoint = [...(await disjointSpans(spans, pace))]
  assert.ok(rests > 4, `${rests} rests`)
  const first = new Map<number, number>()
  for (const [index, { from }] of spans.entries()) {
    for (const at of [from, from + 1]) if (!first.has(at)) first.set(at, index)
  }
  let at = 0
  for (const { from, to, span } of disjoint) {
    assert.equal(from, at)
    for (; at < to; at++) assert.equal(span, first.get(at))
  }
  assert.equal(at, count + 1)
})
