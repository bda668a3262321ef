import assert from 'node:assert/strict'
import { test } from 'node:test'
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
