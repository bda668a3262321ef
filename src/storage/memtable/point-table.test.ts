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
