import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { RunMerge } from './run-merge.ts'
import { POINTS_OF_STEP, sortInSteps } from './sort-in-steps.ts'

const rowsOf = ({ times, values, statuses }: PointColumns) =>
  Array.from(times, (time, i) => [time, values[i]!, statuses[i]!] as const)

/** Points at some times; each value is the number of the point. */
function pointsAt(times: readonly number[]): PointColumns {
  const points = makeColumns(times.length)
  for (const [i, time] of times.entries()) {
    points.times[i] = time
    points.values[i] = i
    points.statuses[i] = i % 3 === 0 ? 1 : 0
  }
  return points
}

/** The last point of each time, in time order. */
function lastOfEach(all: readonly PointColumns[]) {
  const last = new Map(all.flatMap(rowsOf).map((row) => [row[0], row]))
  return [...last.values()].sort(([a], [b]) => a - b)
}

function end<T>(work: Generator<void, T>): { readonly result: T; readonly steps: number } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { result: value, steps }
  }
}

function merged(runs: readonly PointColumns[], most: number): PointColumns {
  const merge = new RunMerge(runs)
  while (!merge.step(most));
  return merge.points
}

test('runs are merged in steps of any length, a later run first, be they apart, in long stretches or mixed', () => {
  const stretch = fc.record({
    start: fc.integer({ min: 0, max: 300 }),
    length: fc.integer({ min: 1, max: 60 }),
    step: fc.integer({ min: 1, max: 3 }),
  })
  const run = fc.array(stretch, { minLength: 1, maxLength: 4 }).map((stretches) => {
    const times = stretches.flatMap(({ start, length, step }) =>
      Array.from({ length }, (_, i) => start + i * step),
    )
    return pointsAt([...new Set(times)].sort((a, b) => a - b))
  })
  fc.assert(
    fc.property(
      fc.array(run, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 400 }),
      (runs, most) => {
        assert.deepEqual(rowsOf(merged(runs, most)), lastOfEach(runs))
      },
    ),
  )
})

const COUNT = 20 * POINTS_OF_STEP + 77
for (const [what, timeOf] of [
  ['descending', (i: number) => COUNT - i],
  ['in no order', (i: number) => (i * 7_919) % 400_009],
  ['in no order, many of the same time', (i: number) => (i * 7_919) % 50_021],
  ['in order but for a few', (i: number) => (i % 100_000 === 5 ? 3 : i)],
] as const) {
  test(`very many points ${what} are a handful of runs after steps of so many points each`, () => {
    const points = pointsAt(Array.from({ length: COUNT }, (_, i) => timeOf(i)))
    const parts = [sliceColumns(points, 0, 90_000), sliceColumns(points, 90_000, COUNT)]
    const { result, steps } = end(sortInSteps(parts))
    assert.ok(result.length <= 8)
    assert.ok(steps >= COUNT / POINTS_OF_STEP, `${steps} steps`)
    // Without telling the difference, which takes minutes.
    const rows = rowsOf(merged(result, POINTS_OF_STEP))
    const expected = lastOfEach([points])
    assert.equal(rows.length, expected.length)
    assert.ok(rows.every((row, i) => row.every((part, at) => part === expected[i]![at])))
  })
}

test('points in order are not copied to be sorted', () => {
  const points = pointsAt(Array.from({ length: COUNT }, (_, i) => i))
  const { result } = end(sortInSteps([points]))
  assert.equal(result.length, 1)
  assert.equal(result[0]!.times.buffer, points.times.buffer)
  assert.equal(result[0]!.times.length, COUNT)
})
