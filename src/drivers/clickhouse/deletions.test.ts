import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { instantFromUs } from '../../time/instant.ts'
import { disjoint } from './deletions.ts'

const bound = fc.integer({ min: 0, max: 30 })
const range = fc.record({ tag: fc.constantFrom('a', 'b'), from: bound, to: bound })

describe('ranges without what lies in an earlier one', () => {
  test('hold each time of each tag once, for the first range that has it', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), (list) => {
        const ranges = list.map(({ tag, from, to }) => ({
          tag,
          from: instantFromUs(from),
          to: instantFromUs(to),
        }))
        const chunks = disjoint(ranges)
        for (const tag of ['a', 'b']) {
          for (let time = 0; time < 31; time++) {
            const holds = (one: { tag: string; from: number; to: number }) =>
              one.tag === tag && one.from <= time && time < one.to
            const owners = chunks.filter((chunk) => holds(chunk.range)).map(({ owner }) => owner)
            const first = ranges.findIndex(holds)
            assert.deepEqual(owners, first < 0 ? [] : [first])
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})
