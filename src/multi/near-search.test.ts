import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantFromUs, US_PER_SECOND } from '../time/instant.ts'
import { countSearch } from './near-search.ts'

/** Times in seconds, dense and sparse by turns. */
const times = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 100, max: 5_000 })), { maxLength: 60 })
  .map((steps) => {
    let at = 0
    return steps.map((step) => {
      at += step
      return at * US_PER_SECOND
    })
  })

test('a range moved back to raw points holds no more points than counts say, and few counts lead there', () => {
  const seconds = fc.integer({ min: 0, max: 100_000 })
  fc.assert(
    fc.property(
      times,
      seconds,
      fc.integer({ min: 1, max: 600 }),
      fc.integer({ min: 1, max: 5 }),
      (...drawn) => {
        const [points, end, length, count] = drawn
        const to = end * US_PER_SECOND
        const lengthUs = length * US_PER_SECOND
        const within = (from: number, until: number) => points.filter((at) => at >= from && at < until).length
        const from = instantFromUs(to - lengthUs)
        const search = countSearch({ from, to: instantFromUs(to), extra: 0, near: { back: true, count } })
        let bound: number | null = null
        for (let rounds = 0; bound === null; rounds++) {
          assert.ok(rounds < 60, 'the search ends')
          bound = search.take(search.ranges().map((range) => within(range.from, range.to)))
        }
        const earlier = points.filter((at) => at < to)
        for (const place of [to, ...earlier.slice(-count)]) {
          const moved = within(place - lengthUs, place)
          assert.ok(moved <= bound, `${moved} points before ${place}, ${bound} by counts`)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
