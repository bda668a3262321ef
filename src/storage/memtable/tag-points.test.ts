import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { SortMemory } from '../blocks/sort-memory.ts'
import { sortAll } from '../blocks/sort-points.ts'
import { LongMemory, PointMemory } from './point-memory.ts'
import { MOST_IN_CELLS, TagPoints } from './tag-points.ts'

type Row = readonly [time: number, value: number, status?: number]

function columnsOf(rows: readonly Row[]): PointColumns {
  const points = makeColumns(rows.length)
  for (const [i, [time, value, status = 0]] of rows.entries()) {
    points.times[i] = time
    points.values[i] = value
    points.statuses[i] = status
  }
  return points
}

const rowsOf = ({ times, values, statuses }: PointColumns) =>
  Array.from(times, (time, at) => [time, values[at]!, statuses[at]!])

test('a tag holds the same points whether they are few or many', () => {
  const around = fc.integer({ min: MOST_IN_CELLS - 20, max: MOST_IN_CELLS + 20 })
  fc.assert(
    fc.property(
      fc.oneof(around, fc.integer({ min: 1, max: 40 })),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: MOST_IN_CELLS }),
      (length, additions, removedUntil) => {
        const memory = new PointMemory()
        const points = new TagPoints(memory)
        const total = additions.reduce((sum, count) => sum + count, length)
        const all = columnsOf(
          Array.from({ length: total }, (_, at): Row => [at * 3, at / 7, at % 5 === 0 ? 1 : 0]),
        )
        const part = (from: number, to: number) => rowsOf(sliceColumns(all, from, to))
        let end = 0
        for (const count of [length, ...additions]) {
          points.add(all, end, end + count)
          end += count
          assert.deepEqual(rowsOf(points.columns()), part(0, end))
        }
        points.remove([{ from: Number.NEGATIVE_INFINITY, to: removedUntil }])
        const start = Math.min(total, Math.ceil(removedUntil / 3))
        assert.deepEqual(rowsOf(points.columns()), part(start, total))
        points.remove([{ from: all.times[total - 1]!, to: Number.POSITIVE_INFINITY }])
        assert.deepEqual(rowsOf(points.columns()), part(start, Math.max(start, total - 1)))
        points.release()
        assert.equal(memory.cells.used, 0)
      },
    ),
    { numRuns: 60 },
  )
})

test('pinned runs stay as they are, and their memory is used again only when nobody has them pinned any more', () => {
  const memory = new PointMemory()
  const points = new TagPoints(memory)
  const rows = (from: number, step: number, value: number) =>
    columnsOf(Array.from({ length: 30_000 }, (_, at): Row => [from + at * step, value]))
  points.add(rows(0, 2, 1), 0, 30_000)
  points.add(rows(1, 1, 2), 0, 30_000)
  const { runs, unpin } = points.pin()
  const before = runs.map(rowsOf)
  points.remove([{ from: 1_000, to: 2_000 }])
  points.release()
  // All that is used again.
  for (const size of [16_384, 65_536, 262_144]) for (let i = 0; i < 4; i++) memory.long.take(size).fill(-1)
  assert.equal(memory.long.kept, 0)
  // Without telling the difference, which takes minutes.
  assert.ok(isDeepStrictEqual(runs.map(rowsOf), before))
  const merged = sortAll([...runs], new SortMemory())
  const last = new Map([...rowsOf(rows(0, 2, 1)), ...rowsOf(rows(1, 1, 2))].map((row) => [row[0], row]))
  const expected = [...last.values()].sort(([a], [b]) => a! - b!)
  assert.ok(isDeepStrictEqual(rowsOf(merged), expected))
  unpin()

  const others = new TagPoints(memory)
  others.add(rows(0, 1, 4), 0, 30_000)
  others.pin().unpin()
  others.release()
  assert.ok(memory.long.kept > 0)
})

test('a long run of points in order stays as it was given out while others are late, replace and follow', () => {
  const points = new TagPoints(new PointMemory())
  const add = (from: number, count: number, step: number, value: number) =>
    points.add(columnsOf(Array.from({ length: count }, (_, at): Row => [from + at * step, value])), 0, count)
  add(0, 5_000, 2, 1)
  const first = points.columns()
  add(10_000, 5_000, 2, 2)
  add(1, 3_000, 2, 3)
  const second = points.columns()
  add(0, 1, 1, 4)
  assert.equal(points.columns().values[0], 4)
  assert.equal(points.columns().times.length, 13_000)
  assert.ok(first.times.length === 5_000 && first.values.every((value) => value === 1))
  assert.equal(second.values[0], 1)
  assert.ok(second.times.every((time, at) => at === 0 || time > second.times[at - 1]!))
})

test('late points that are looked at one by one use no memory that only comes free with all of them', () => {
  const memory = new PointMemory()
  const { cells } = memory
  const points = new TagPoints(memory)
  const add = (time: number, value: number) => points.add(columnsOf([[time, value]]), 0, 1)
  for (let time = 0; time < 100; time++) add(time, 0)
  const { used } = cells
  for (let round = 1; round <= 1_000; round++) {
    add(50, round)
    assert.equal(points.columns().values[50], round)
  }
  assert.equal(cells.used, used)
})

test('memory of many points is used again, unless somebody may look at it', () => {
  const memory = new PointMemory()
  const many = columnsOf(Array.from({ length: 50_000 }, (_, at): Row => [at, at]))
  const points = new TagPoints(memory)
  points.add(many, 0, 50_000)
  points.release()
  const { kept } = memory.long
  assert.ok(kept > 0)
  points.add(many, 0, 50_000)
  const given = points.columns()
  points.release()
  points.add(columnsOf(Array.from({ length: 50_000 }, (_, at): Row => [at, -at])), 0, 50_000)
  assert.deepEqual(given.values, many.values)
})

test('memory of many points that nobody takes for two generations is let go of', () => {
  const memory = new LongMemory()
  memory.giveBack(memory.take(50_000))
  memory.giveBack(memory.take(1_000))
  const { kept } = memory
  assert.equal(kept, 2 * 65_536)
  memory.trim()
  assert.equal(memory.kept, kept)
  memory.giveBack(memory.take(60_000))
  memory.trim()
  assert.equal(memory.kept, kept)
  memory.trim()
  assert.equal(memory.kept, 0)
})

/** Late points of a tag, in runs of several levels, with times that come again. */
function latePoints(count: number): PointColumns {
  return columnsOf(
    Array.from({ length: count }, (_, at): Row => [(at * 7_919) % 60_013, at, at % 97 === 0 ? 1 : 0]),
  )
}

test('late points that are brought in order in steps are those that are brought in order at once', () => {
  const late = latePoints(150_000)
  const [inSteps, atOnce] = [new TagPoints(new PointMemory()), new TagPoints(new PointMemory())]
  for (const points of [inSteps, atOnce]) points.add(late, 0, late.times.length)
  let steps = 0
  for (const sorting = inSteps.sortInSteps(); sorting.next().done === false; ) steps++
  assert.ok(steps > 3, `${steps}`)
  assert.deepEqual(rowsOf(inSteps.columns()), rowsOf(atOnce.columns()))
  assert.equal(inSteps.sortInSteps().next().done, true)
})

test('what comes, goes or is looked at between two steps counts', () => {
  const late = latePoints(150_000)
  const changes: readonly ((points: TagPoints) => void)[] = [
    (points) => points.add(columnsOf([[5, -1]]), 0, 1),
    (points) => points.remove([{ from: 10, to: 20_000 }]),
    (points) => points.columns(),
  ]
  for (const change of changes) {
    for (let before = 0; before < 12; before += 4) {
      const [inSteps, atOnce] = [new TagPoints(new PointMemory()), new TagPoints(new PointMemory())]
      for (const points of [inSteps, atOnce]) points.add(late, 0, late.times.length)
      const sorting = inSteps.sortInSteps()
      for (let step = 0; step < before; step++) sorting.next()
      for (const points of [inSteps, atOnce]) change(points)
      while (sorting.next().done === false);
      assert.deepEqual(rowsOf(inSteps.columns()), rowsOf(atOnce.columns()))
    }
  }
})
