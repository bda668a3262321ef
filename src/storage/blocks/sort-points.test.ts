import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PointColumns } from '../../series/columns.ts'
import { mergePoints, mergeRuns } from './merge-points.ts'
import { ColumnsMemory, SortMemory } from './sort-memory.ts'
import { sortAll, sortPoints } from './sort-points.ts'

const rows = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.nat(99), fc.constantFrom(0, 1)), {
  maxLength: 40,
})

type Rows = readonly (readonly [number, number, number])[]

const columnsOf = (points: Rows): PointColumns => ({
  times: Float64Array.from(points, (row) => row[0]),
  values: Float64Array.from(points, (row) => row[1]),
  statuses: Uint8Array.from(points, (row) => row[2]),
})

/** Rows by time, the last of each time. */
const plainly = (points: Rows): PointColumns =>
  columnsOf([...new Map(points.map((row) => [row[0], row])).values()].sort((a, b) => a[0] - b[0]))

test('sorting keeps the last of each timestamp', () => {
  fc.assert(fc.property(rows, (points) => assert.deepEqual(sortPoints(columnsOf(points)), plainly(points))))
})

test('sorting in memory that is used again gives the same, and makes none for as many points', () => {
  fc.assert(
    fc.property(rows, rows, (one, other) => {
      const memory = new SortMemory()
      assert.deepEqual(sortPoints(columnsOf(one), memory), plainly(one))
      assert.deepEqual(sortPoints(columnsOf(other), memory), plainly(other))
    }),
  )
  const memory = new SortMemory()
  const falling = (count: number) => columnsOf(Array.from({ length: count }, (_, i) => [count - i, i, 0]))
  const first = sortPoints(falling(100), memory)
  assert.equal(sortPoints(falling(90), memory).times.buffer, first.times.buffer)
  assert.notEqual(sortPoints(falling(100)).times.buffer, first.times.buffer)
})

test('sorting keeps the last of each timestamp, whether times are near, whole milliseconds, or neither', () => {
  const spread = fc.constantFrom(1, 1_000, 2 ** 40, 1_000 * 2 ** 30, 5e14 + 1)
  const many = fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.nat(99), fc.constantFrom(0, 1)), {
    minLength: 2,
    maxLength: 300,
  })
  fc.assert(
    fc.property(many, spread, fc.constantFrom(0, 1, -7e15), (points, factor, offset) => {
      const moved = points.map(([time, value, status]) => [time * factor + offset, value, status] as const)
      assert.deepEqual(sortPoints(columnsOf(moved)), plainly(moved))
    }),
  )
})

test('long runs in any order, which overlap or not, are sorted as single points are', () => {
  const run = fc.record({ from: fc.nat(3_000), count: fc.integer({ min: 1, max: 400 }) })
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 20 }), fc.boolean(), (runs, isApart) => {
      const parts = runs.map(({ from, count }, i) =>
        Array.from({ length: count }, (_, k) => [(isApart ? from * 1_000 : from) + k, i, k % 2] as const),
      )
      const expected = plainly(parts.flat())
      assert.deepEqual(sortPoints(columnsOf(parts.flat())), expected)
      assert.deepEqual(sortAll(parts.map(columnsOf), new SortMemory()), expected)
    }),
  )
})

test('merging lets the second one win', () => {
  fc.assert(
    fc.property(rows, rows, (base, over) => {
      const merged = mergePoints(sortPoints(columnsOf(base)), sortPoints(columnsOf(over)))
      assert.deepEqual(merged, plainly([...base, ...over]))
      const memory = new ColumnsMemory()
      const taken = (count: number) => memory.columns(count)
      const inMemory = mergePoints(sortPoints(columnsOf(base)), sortPoints(columnsOf(over)), taken)
      assert.deepEqual(inMemory, plainly([...base, ...over]))
    }),
  )
})

test('merging copies what lies between two points of the other as a whole, from either', () => {
  const stretch = fc.record({
    isOver: fc.boolean(),
    count: fc.integer({ min: 1, max: 60 }),
    isBoth: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1, maxLength: 12 }), (stretches) => {
      const base: (readonly [number, number, number])[] = []
      const over: (readonly [number, number, number])[] = []
      let time = 0
      for (const { isOver, count, isBoth } of stretches) {
        for (let i = 0; i < count; i++, time++) {
          const into = isOver ? over : base
          into.push([time, into === over ? 1 : 0, time % 2])
        }
        if (isBoth) for (const into of [base, over]) into.push([time, into === over ? 1 : 0, 0])
        time++
      }
      assert.deepEqual(mergePoints(columnsOf(base), columnsOf(over)), plainly([...base, ...over]))
    }),
  )
})

test('of several runs the last wins', () => {
  fc.assert(
    fc.property(
      fc.array(
        rows.filter((points) => points.length > 0),
        { minLength: 1, maxLength: 6 },
      ),
      (runs) => {
        const merged = mergeRuns(runs.map((points) => sortPoints(columnsOf(points))))
        assert.deepEqual(merged, plainly(runs.flat()))
      },
    ),
  )
})
