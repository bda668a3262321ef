import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lowerBound, lowerBoundFrom, upperBound, upperBoundFrom } from './columns.ts'

test('a search that goes on from an earlier result finds what one over all finds', () => {
  const time = fc.integer({ min: 0, max: 300 })
  fc.assert(
    fc.property(fc.array(time, { maxLength: 200 }), fc.array(time, { maxLength: 40 }), (all, asked) => {
      const times = Float64Array.from(new Set(all)).sort()
      let found = 0
      let lower = 0
      for (const at of asked.sort((a, b) => a - b)) {
        found = upperBoundFrom(times, at, found)
        assert.equal(found, upperBound(times, at))
        lower = lowerBoundFrom(times, at, lower)
        assert.equal(lower, lowerBound(times, at))
      }
    }),
  )
})
