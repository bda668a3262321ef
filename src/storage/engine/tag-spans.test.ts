import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { disjointPieces } from './tag-spans.ts'

test('pieces cover what spans cover, once, for the first span that does', () => {
  const edge = fc.integer({ min: 0, max: 30 })
  fc.assert(
    fc.property(fc.array(fc.tuple(edge, edge), { maxLength: 10 }), (edges) => {
      const spans = edges.map(([from, to]) => ({ from, to }))
      const pieces = disjointPieces(spans)
      for (let at = 0; at < 31; at++) {
        const expected = spans.findIndex(({ from, to }) => from <= at && at < to)
        const covering = pieces.filter(({ from, to }) => from <= at && at < to)
        assert.deepEqual(
          covering.map(({ span }) => span),
          expected < 0 ? [] : [expected],
        )
      }
      for (let i = 1; i < pieces.length; i++) assert.ok(pieces[i]!.from >= pieces[i - 1]!.to)
    }),
    { numRuns: 1_000 },
  )
})
