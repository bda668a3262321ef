import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns } from '../../series/columns.ts'
import { NewestPoints } from './newest-points.ts'

const target = makeColumns(1)

function newestOf(points: NewestPoints, tag: number) {
  if (!points.has(tag)) return null
  points.copy(tag, target, 0)
  assert.equal(points.time(tag), target.times[0])
  return [target.times[0], target.values[0], target.statuses[0]]
}

test('of each tag that was asked about the newest point is known, whatever comes and goes of it and of others', () => {
  const tag = fc.constantFrom(1, 2, 4_095, 4_096, 70_000, 0xffff_fffe)
  const point = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer(), fc.constantFrom(0, 1))
  const command = fc.tuple(fc.constantFrom('remember', 'forget', 'add'), tag, point)
  fc.assert(
    fc.property(fc.array(command, { maxLength: 100 }), (commands) => {
      const points = new NewestPoints()
      const model = new Map<number, readonly number[]>()
      for (const [kind, id, newest] of commands) {
        const [time, value, status] = newest
        if (kind === 'remember') {
          points.remember(id, time, value, status)
          model.set(id, newest)
        } else if (kind === 'forget') {
          points.forget(id)
          model.delete(id)
        } else {
          const columns = makeColumns(1)
          columns.times[0] = time
          columns.values[0] = value
          columns.statuses[0] = status
          points.add({ tags: Uint32Array.of(id), offsets: Uint32Array.of(0, 1), points: columns })
          const before = model.get(id)
          if (before !== undefined && time >= before[0]!) model.set(id, newest)
        }
        for (const other of [1, 2, 4_095, 4_096, 70_000, 0xffff_fffe]) {
          assert.deepEqual(newestOf(points, other), model.get(other) ?? null)
        }
      }
    }),
  )
})

test('a tenth of a million tags takes a fraction of what all would, and what is forgotten is used again', () => {
  const before = process.memoryUsage().arrayBuffers
  const points = new NewestPoints()
  for (let round = 0; round < 3; round++) {
    for (let tag = 1 + round; tag < 1_000_000; tag += 10) points.remember(tag, 1, 2, 0)
    if (round < 2) for (let tag = 1 + round; tag < 1_000_000; tag += 10) points.forget(tag)
  }
  const taken = process.memoryUsage().arrayBuffers - before
  assert.ok(taken < 6.5e6, `${taken} bytes`)
})
