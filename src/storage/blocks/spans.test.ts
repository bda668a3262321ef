import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { isCut, isWithin, joinSpans, type Span, without } from './spans.ts'

const spans = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 9 }))
    .map(([from, length]): Span => ({ from, to: from + length })),
  { maxLength: 12 },
)
const times = fc.uniqueArray(fc.integer({ min: 0, max: 70 }), { maxLength: 60 })

function columnsAt(ascending: readonly number[]): PointColumns {
  const columns = makeColumns(ascending.length)
  for (const [i, time] of ascending.entries()) {
    columns.times[i] = time
    columns.values[i] = 10 * time
    columns.statuses[i] = time % 2
  }
  return columns
}

const isIn = (all: readonly Span[], time: number) => all.some(({ from, to }) => time >= from && time < to)

test('joined spans are ascending, apart from each other, and cover what the spans cover', () => {
  fc.assert(
    fc.property(spans, (all) => {
      const joined = joinSpans(all)
      for (let i = 1; i < joined.length; i++) assert.ok(joined[i]!.from > joined[i - 1]!.to)
      for (let time = 0; time <= 70; time++) assert.equal(isIn(joined, time), isIn(all, time))
    }),
  )
})

test('points without those in spans are as they are where no span has any of them', () => {
  fc.assert(
    fc.property(spans, times, (all, at) => {
      const points = columnsAt(at.toSorted((a, b) => a - b))
      const left = without(points, joinSpans(all))
      const kept = [...points.times].filter((time) => !isIn(all, time))
      assert.deepEqual(left, kept.length === at.length ? points : columnsAt(kept))
      if (kept.length === at.length) assert.equal(left, points)
    }),
  )
})

test('a stretch of time is cut where it has something in common with a span, and within one that has all of it', () => {
  const instant = fc.integer({ min: 0, max: 70 })
  fc.assert(
    fc.property(spans, instant, fc.integer({ min: 0, max: 12 }), (all, first, length) => {
      const joined = joinSpans(all)
      const instants = Array.from({ length: length + 1 }, (_, i) => isIn(all, first + i))
      assert.equal(isCut(joined, first, first + length), instants.includes(true))
      assert.equal(isWithin(joined, first, first + length), !instants.includes(false))
    }),
  )
})
