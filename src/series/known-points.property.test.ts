import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns, reverseColumns, STATUS_BAD, sliceColumns } from './columns.ts'
import { KnownPoints } from './known-points.ts'
import type { FindPoint } from './reads.ts'

const END = 60

/** Points at some of the instants 0 to 59; every third is BAD. */
const stored = fc
  .uniqueArray(fc.integer({ min: 0, max: END - 1 }), { maxLength: 40 })
  .map((drawn): PointColumns => {
    const times = Float64Array.from(drawn).sort()
    const points = makeColumns(times.length)
    points.times.set(times)
    times.forEach((time, i) => {
      points.values[i] = time * 10
      if (time % 3 === 0) points.statuses[i] = STATUS_BAD
    })
    return points
  })

const range = fc
  .record({
    from: fc.integer({ min: 0, max: END - 1 }),
    length: fc.integer({ min: 1, max: END }),
    order: fc.constantFrom('asc', 'desc'),
    limit: fc.integer({ min: 1, max: 12 }),
  })
  .map(({ from, length, order, limit }) => ({ from, to: Math.min(END, from + length), order, limit }))

/** What a historian gives. */
function read(
  all: PointColumns,
  { from, to, order, limit }: { from: number; to: number; order: string; limit: number },
) {
  const within = filtered(all, (time) => time >= from && time < to)
  const points = order === 'asc' ? within : reverseColumns(within)
  return { points: sliceColumns(points, 0, limit), more: points.times.length > limit }
}

function filtered({ times, values, statuses }: PointColumns, keep: (time: number) => boolean): PointColumns {
  const kept = [...times.keys()].filter((i) => keep(times[i]!))
  return {
    times: Float64Array.from(kept, (i) => times[i]!),
    values: Float64Array.from(kept, (i) => values[i]!),
    statuses: Uint8Array.from(kept, (i) => statuses[i]!),
  }
}

/** The known ranges of a set that was filled by whole and by limited reads. */
function fill(all: PointColumns, filled: readonly { from: number; to: number }[]): KnownPoints {
  const known = new KnownPoints()
  for (const { from, to } of filled) {
    known.add(
      from,
      to,
      filtered(all, (time) => time >= from && time < to),
    )
  }
  return known
}

test('a read is answered as the historian would, or not at all', () => {
  fc.assert(
    fc.property(stored, fc.array(range, { maxLength: 8 }), range, (all, filled, asked) => {
      const known = fill(all, filled)
      const expected = read(all, asked)
      const answer = known.answer(asked)
      if (answer !== null) assert.deepEqual(answer, expected)
      const isWhole = filled.some(({ from, to }) => from <= asked.from && asked.to <= to)
      if (isWhole) assert.notEqual(answer, null, 'what is known is not fetched again')
    }),
    { numRuns: 2_000 },
  )
})

test('what is known before a gap, and gap after gap, are the whole read', () => {
  fc.assert(
    fc.property(stored, fc.array(range, { maxLength: 8 }), range, (all, filled, asked) => {
      const known = fill(all, filled)
      if (known.answer(asked) !== null) return
      for (let parts = 0; known.answer(asked) === null; parts++) {
        assert.ok(parts <= filled.length + 1, 'each gap is read once')
        const gap = known.gap(asked)
        assert.ok(asked.from <= gap.from && gap.from < gap.to && gap.to <= asked.to)
        assert.equal(known.beginning(asked).times.length, gap.known)
        const inGap = filtered(all, (time) => time >= gap.from && time < gap.to)
        known.add(gap.from, gap.to, inGap)
      }
      assert.deepEqual(known.answer(asked), read(all, asked))
    }),
    { numRuns: 2_000 },
  )
})

test('a point and bounding values are those of the historian, or not known', () => {
  const find = fc.constantFrom<FindPoint>('before', 'before-or-at', 'after', 'after-or-at')
  const at = fc.integer({ min: 0, max: END - 1 })
  fc.assert(
    fc.property(stored, fc.array(range, { maxLength: 8 }), find, at, (all, filled, kind, instant) => {
      const known = fill(all, filled)
      const { times } = all
      const index = {
        before: times.findLastIndex((time) => time < instant),
        'before-or-at': times.findLastIndex((time) => time <= instant),
        after: times.findIndex((time) => time > instant),
        'after-or-at': times.findIndex((time) => time >= instant),
      }[kind]
      const point = known.point(kind, instant)
      if (point !== null)
        assert.deepEqual(point, {
          time: times[index],
          value: all.values[index],
          status: all.statuses[index],
        })
      const good = filtered(all, (time) => time % 3 !== 0).times
      const boundingValues = known.boundingValues(instant)
      if (boundingValues === null) return
      assert.equal(
        boundingValues.beforeTimes[0],
        good.findLast((time) => time <= instant),
      )
      assert.equal(
        boundingValues.afterTimes[0],
        good.find((time) => time >= instant),
      )
    }),
    { numRuns: 2_000 },
  )
})

test('many short reads side by side are one range, in both orders', () => {
  const all = makeColumns(5_000)
  for (let i = 0; i < all.times.length; i++) all.times[i] = i
  for (const order of ['asc', 'desc'] as const) {
    const known = new KnownPoints()
    for (let i = 0; i < 5_000; i += 2) {
      const from = order === 'asc' ? i : 4_998 - i
      known.add(from, from + 2, sliceColumns(all, from, from + 2))
    }
    const answer = known.answer({ from: 0, to: 5_000, order, limit: 5_000 })
    assert.deepEqual(answer, { points: order === 'asc' ? all : reverseColumns(all), more: false })
  }
})
