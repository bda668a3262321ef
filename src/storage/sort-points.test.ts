import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PointColumns } from '../series/columns.ts'
import { mergePoints, sortPoints } from './sort-points.ts'

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

test('merging lets the second one win', () => {
  fc.assert(
    fc.property(rows, rows, (base, over) => {
      const merged = mergePoints(sortPoints(columnsOf(base)), sortPoints(columnsOf(over)))
      assert.deepEqual(merged, plainly([...base, ...over]))
    }),
  )
})
