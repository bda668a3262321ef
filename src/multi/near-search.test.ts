import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FAR, inWindow, type Near, nearTo, together } from '../calc/graph/near.ts'
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

const seconds = fc.integer({ min: 0, max: 100_000 })
const drawnRange = [times, seconds, fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 5 })] as const

function within(points: readonly number[], from: number, to: number): number {
  return points.filter((at) => at >= from && at < to).length
}

/** Points of a range that is moved, at most. */
function boundOf(points: readonly number[], from: number, to: number, near: Near): number {
  const search = countSearch({ from: instantFromUs(from), to: instantFromUs(to), extra: 0, near })
  let bound: number | null = null
  for (let rounds = 0; bound === null; rounds++) {
    assert.ok(rounds < 60, 'the search ends')
    bound = search.take(search.ranges().map((range) => within(points, range.from, range.to)))
  }
  return bound
}

test('a range moved back to raw points holds no more points than counts say, and few counts lead there', () => {
  fc.assert(
    fc.property(...drawnRange, (points, end, length, count) => {
      const to = end * US_PER_SECOND
      const lengthUs = length * US_PER_SECOND
      const bound = boundOf(points, to - lengthUs, to, nearTo(instantFromUs(to), true, count, FAR))
      const earlier = points.filter((at) => at < to)
      for (const place of [to, ...earlier.slice(-count)]) {
        const moved = within(points, place - lengthUs, place)
        assert.ok(moved <= bound, `${moved} points before ${place}, ${bound} by counts`)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('so does a range moved forward, which may begin before the place and end behind it', () => {
  fc.assert(
    fc.property(...drawnRange, seconds, (points, place, length, count, before) => {
      const at = place * US_PER_SECOND
      const from = at - before * US_PER_SECOND
      const to = from + length * US_PER_SECOND
      const bound = boundOf(points, from, to, nearTo(instantFromUs(at), false, count, FAR))
      for (const found of [at, ...points.filter((time) => time > at).slice(0, count)]) {
        const moved = within(points, from + found - at, to + found - at)
        assert.ok(moved <= bound, `${moved} points at ${found}, ${bound} by counts`)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a place that lies no further away than so moves a range by no more, nor before its floor', () => {
  const points = Array.from({ length: 100 }, (_, i) => i * US_PER_SECOND)
  const [from, to] = [200, 210].map((at) => instantFromUs(at * US_PER_SECOND))
  const near = (mostUs: number) => nearTo(to!, true, 1, { mostUs })
  assert.equal(boundOf(points, from!, to!, near(50 * US_PER_SECOND)), 0)
  const bound = boundOf(points, from!, to!, near(120 * US_PER_SECOND))
  assert.ok(bound >= 10 && bound <= 20, `${bound} points`)
  const floor = instantFromUs(95 * US_PER_SECOND)
  assert.equal(boundOf(points, from!, to!, { ...near(120 * US_PER_SECOND), floor }), 5)
})

test('a place in another window reads that window', () => {
  const points = Array.from({ length: 3_600 }, (_, i) => i * US_PER_SECOND)
  const [from, at] = [3_000, 3_001].map((second) => instantFromUs(second * US_PER_SECOND))
  const place = nearTo(at!, true, 1, FAR)
  const window = inWindow(place, from!, from! + 600 * US_PER_SECOND, 600 * US_PER_SECOND)
  // The point before the place is still within the window, that before it is not.
  assert.equal(boundOf(points, from!, at!, together(place, window)), 2)
  assert.equal(boundOf(points, from!, at!, together({ ...nearTo(at!, true, 3, FAR) }, window)) > 600, true)
})
