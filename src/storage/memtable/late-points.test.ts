import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { Cells } from './cells.ts'
import { LatePoints } from './late-points.ts'

/** Points in no order of time; each value is the number of the point. */
function someLate(count: number, times: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    // Multiples of the golden section lie all over.
    points.times[i] = Math.floor(((i * 0.6180339887498949) % 1) * times)
    points.values[i] = i
    points.statuses[i] = i % 3 === 0 ? 1 : 0
  }
  return points
}

function expected({ times, values, statuses }: PointColumns, count: number) {
  const last = new Map<number, number>()
  for (let i = 0; i < count; i++) last.set(times[i]!, i)
  const rows = [...last].sort(([one], [other]) => one - other)
  return rows.map(([time, i]) => [time, values[i], statuses[i]])
}

const rowsOf = ({ times, values, statuses }: PointColumns) =>
  Array.from(times, (time, i) => [time, values[i], statuses[i]])

for (const [what, times] of [
  ['of times that differ', 1e12],
  ['of which many replace others', 50_000],
] as const) {
  test(`very many late points ${what} are in order, the last one of each time`, () => {
    const points = someLate(200_000, times)
    const cells = new Cells()
    const late = new LatePoints(cells)
    let added = 0
    for (const count of [1, 16_383, 5, 40_000, 100_000, 43_611]) {
      late.add(points, added, added + count)
      added += count
      assert.deepEqual(rowsOf(late.sorted()), expected(points, added))
    }
    assert.equal(added, 200_000)
    assert.ok(cells.used > 0)
    late.release()
    assert.equal(cells.used, 0)
  })
}

test('late points that came in order are their own, whatever becomes of those that brought them', () => {
  const points = makeColumns(20_000)
  for (let i = 0; i < 20_000; i++) points.times[i] = i
  const late = new LatePoints(new Cells())
  late.add(points, 0, 20_000)
  late.add(points, 0, 20_000)
  points.times.fill(-1)
  assert.deepEqual(
    [...late.sorted().times],
    Array.from({ length: 20_000 }, (_, i) => i),
  )
})
