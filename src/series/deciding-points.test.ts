import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { points, rows } from '../../test/contract/points.ts'
import { type PointColumns, reverseColumns, STATUS_BAD, STATUS_OK } from './columns.ts'
import { countDeciding, decidingPoints } from './deciding-points.ts'

const timesOf = ({ times }: PointColumns) => [...times]

test('of points on one side of all thresholds the first and the last stay', () => {
  const all = points([1, 5], [2, 6], [3, 7], [4, 20], [5, 21], [6, 22], [7, 8], [8, 9], [9, 9])
  assert.deepEqual(timesOf(decidingPoints(all, { thresholds: [10] })), [1, 3, 4, 6, 7, 9])
  assert.deepEqual(timesOf(decidingPoints(all, { thresholds: [10, 5.5] })), [1, 2, 3, 4, 6, 7, 9])
})

test('a point on a threshold lies on neither side of it', () => {
  const all = points([1, 5], [2, 5], [3, 5], [4, 4], [5, 5], [6, 6], [7, 7], [8, 8])
  assert.deepEqual(timesOf(decidingPoints(all, { thresholds: [5] })), [1, 3, 4, 5, 6, 8])
})

test('BAD points and those beside them stay', () => {
  const all = points([1, 1], [2, 1], [3, 1], [4, 1, STATUS_BAD], [5, 1], [6, 1], [7, 1])
  assert.deepEqual(timesOf(decidingPoints(all, { thresholds: [5] })), [1, 3, 4, 5, 7])
})

test('what is left stands as close as the gap wherever all points did', () => {
  const all = points([0, 1], [4, 1], [8, 1], [12, 1], [16, 1], [27, 1], [30, 1], [33, 1])
  assert.deepEqual(timesOf(decidingPoints(all, { thresholds: [5], maxGapUs: 10 })), [0, 8, 16, 27, 33])
})

/** The signal at a time, by a plain loop; `null` where it has no value. */
function valueAt(all: PointColumns, time: number, stepped: boolean, gap: number): number | null {
  const good = rows(all).filter(([, , status]) => status === STATUS_OK)
  const before = good.findLast(([at]) => at <= time)
  const after = good.find(([at]) => at >= time)
  if (before === undefined) return null
  if (before[0] === time) return before[1]
  const isGap = after === undefined || after[0] - before[0] > gap
  if (stepped || after === undefined) return isGap && time >= before[0] + gap ? null : before[1]
  return isGap ? null : before[1] + ((after[1] - before[1]) * (time - before[0])) / (after[0] - before[0])
}

test('the signal compares with each threshold as that of all points, at all times', () => {
  const point = fc.record({
    step: fc.integer({ min: 1, max: 9 }),
    value: fc.integer({ min: -3, max: 3 }),
    die: fc.nat(7),
  })
  const thresholds = fc.array(fc.constantFrom(-3, -1.5, 0, 0.25, 2, 4), { minLength: 1, maxLength: 3 })
  let left = 0
  let all = 0
  fc.assert(
    fc.property(
      fc.array(point, { maxLength: 60, size: 'max' }),
      thresholds,
      fc.constantFrom(undefined, 1, 5, 9, 30),
      fc.boolean(),
      (steps, wanted, maxGapUs, stepped) => {
        let time = 0
        const rowsOf = steps.map(({ step, value, die }) => {
          time += step
          return [time, value, die === 0 ? STATUS_BAD : STATUS_OK] as const
        })
        const whole = points(...rowsOf)
        const compared = { thresholds: wanted, ...(maxGapUs !== undefined && { maxGapUs }) }
        const given = decidingPoints(whole, compared)
        assert.equal(countDeciding(whole, compared), given.times.length)
        const gap = maxGapUs ?? Number.POSITIVE_INFINITY
        for (let at = 0; at <= time + 1; at++) {
          const expected = valueAt(whole, at, stepped, gap)
          const found = valueAt(given, at, stepped, gap)
          for (const threshold of wanted) {
            const sides = [found, expected].map((value) =>
              value === null ? null : Math.sign(value - threshold),
            )
            assert.equal(sides[0], sides[1], `at ${at} against ${threshold}`)
          }
        }
        const backwards = decidingPoints(reverseColumns(whole), compared)
        for (const { times } of [given, backwards]) assert.ok(times.every((at) => whole.times.includes(at)))
        if (maxGapUs === undefined) assert.deepEqual(reverseColumns(backwards), given)
        all += whole.times.length
        left += given.times.length
      },
    ),
    { numRuns: 1_000 },
  )
  assert.ok(left < 0.95 * all, `${left} of ${all} points are left`)
})
