import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns } from '../../series/columns.ts'
import { SlabPool } from './point-log.ts'
import { PointMemory } from './point-memory.ts'
import { PointTable } from './point-table.ts'

test('memory of a tag with many points is kept for the points that come next, and for nothing where none do', () => {
  for (const isLast of [false, true]) {
    const memory = new PointMemory()
    const table = new PointTable(new SlabPool(), memory)
    const points = makeColumns(50_000)
    for (let i = 0; i < 50_000; i++) points.times[i] = i
    table.add({ tags: Uint32Array.of(7), offsets: Uint32Array.of(0, 50_000), points })
    assert.equal(table.columns(7)!.times.length, 50_000)
    table.release(isLast)
    // Given out, it is somebody else's.
    assert.equal(memory.long.kept, 0)

    const next = new PointTable(new SlabPool(), memory)
    next.add({ tags: Uint32Array.of(7), offsets: Uint32Array.of(0, 50_000), points })
    next.release(isLast)
    assert.equal(memory.long.kept > 0, !isLast)
  }
})

test('a tag with few points has no memory of its own for those that stay when some are taken away', () => {
  const time = fc.integer({ min: 0, max: 12 })
  const step = fc.oneof(
    fc.record({ tag: fc.integer({ min: 1, max: 3 }), times: fc.array(time, { maxLength: 6 }) }),
    fc.record({ tag: fc.integer({ min: 1, max: 3 }), from: time, to: time }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const memory = new PointMemory()
      const table = new PointTable(new SlabPool(), memory)
      const model = new Map<number, Map<number, number>>()
      let value = 0
      for (const step of steps) {
        const known = model.get(step.tag) ?? new Map<number, number>()
        model.set(step.tag, known)
        if ('times' in step) {
          const points = makeColumns(step.times.length)
          for (const [i, at] of step.times.entries()) {
            points.times[i] = at
            points.values[i] = ++value
            points.statuses[i] = value % 2
            known.set(at, value)
          }
          table.add({ tags: Uint32Array.of(step.tag), offsets: Uint32Array.of(0, step.times.length), points })
        } else {
          table.remove(step.tag, [{ from: step.from, to: step.to }])
          for (const at of known.keys()) if (at >= step.from && at < step.to) known.delete(at)
        }
        for (const [tag, points] of model) {
          const columns = table.columns(tag)
          const found = columns === null ? [] : Array.from(columns.times, (at, i) => [at, columns.values[i]])
          assert.deepEqual(
            found,
            [...points].sort(([a], [b]) => a - b),
          )
          assert.ok(
            columns === null || columns.statuses.every((status, i) => status === columns.values[i]! % 2),
          )
        }
        assert.equal(memory.cells.used, 0)
      }
    }),
  )
})

/** Points of tags that come together: also none, the same tag twice, and more than a tag has in the log. */
const write = fc.array(
  fc.record({
    tag: fc.constantFrom(1, 2, 3, 700, 5_000),
    times: fc.oneof(
      fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 5 }),
      fc.integer({ min: 60, max: 200 }).map((count) => Array.from({ length: count }, (_, i) => i)),
    ),
  }),
  { maxLength: 6 },
)

let values = 0

function pointsOf(entries: readonly { readonly tag: number; readonly times: readonly number[] }[]) {
  const points = makeColumns(entries.reduce((sum, { times }) => sum + times.length, 0))
  const offsets = new Uint32Array(entries.length + 1)
  let at = 0
  for (const [i, { times }] of entries.entries()) {
    for (const time of times) {
      points.times[at] = time
      points.values[at] = ++values
      points.statuses[at++] = values % 2
    }
    offsets[i + 1] = at
  }
  return { tags: Uint32Array.from(entries, ({ tag }) => tag), offsets, points }
}

const rowsOf = (table: PointTable) =>
  [1, 2, 3, 700, 5_000].map((tag) => {
    const columns = table.columns(tag)
    return columns === null
      ? []
      : Array.from(columns.times, (at, i) => [at, columns.values[i], columns.statuses[i]])
  })

test('few points of tags that are prepared together are seen when they are taken, as those that are added', () => {
  fc.assert(
    fc.property(
      fc.array(write, { maxLength: 3 }),
      fc.array(write, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (earlier, together, isLate) => {
        const [table, model] = [0, 1].map(() => new PointTable(new SlabPool(), new PointMemory())) as [
          PointTable,
          PointTable,
        ]
        for (const entries of earlier) {
          const points = pointsOf(entries)
          for (const one of [table, model]) one.add(points)
        }
        const before = rowsOf(model)
        const writes = together.map(pointsOf)
        const work = table.prepare(writes, 0)
        let step = work.next()
        for (; step.done !== true; step = work.next()) assert.deepEqual(rowsOf(table), before)
        assert.deepEqual(rowsOf(table), before)
        const other = pointsOf([{ tag: 2, times: [7] }])
        if (isLate) for (const one of [table, model]) one.add(other)
        const taken = table.take(step.value) ? step.value : null
        assert.equal(taken === null, isLate)
        for (const points of writes) {
          table.add(points, taken)
          model.add(points)
        }
        assert.deepEqual(rowsOf(table), rowsOf(model))
        assert.equal(table.points, model.points)
      },
    ),
  )
})
