import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PointColumns } from '../../series/columns.ts'
import { mergePoints, mergeRuns, sortPoints } from './sort-points.ts'

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

test('merging lets the second one win', () => {
  fc.assert(
    fc.property(rows, rows, (base, over) => {
      const merged = mergePoints(sortPoints(columnsOf(base)), sortPoints(columnsOf(over)))
      assert.deepEqual(merged, plainly([...base, ...over]))
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
