import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { makeColumns } from '../../series/columns.ts'
import { TagPoints } from '../memtable/tag-points.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const EVER = { from: 0, to: 1e15, order: 'asc', limit: 1e6 } as const
const limits = { reserveBytes: 0 }
const COUNT = 150_000

function pointsAt(timeOf: (i: number) => number, value: number) {
  const points = makeColumns(COUNT)
  for (let i = 0; i < COUNT; i++) points.times[i] = timeOf(i)
  points.values.fill(value)
  return points
}

test('a write of very many points out of order lets others in before it is applied, and adds none one by one', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const add = t.mock.method(TagPoints.prototype, 'add')
  const pause = t.mock.method(TimeSlice.shared, 'next')
  const descending = pointsAt((i) => 2 * (COUNT - i), 1)
  const mixed = pointsAt((i) => 1 + ((i * 7_919) % 400_009), 2)
  for (const points of [descending, mixed])
    await store.write(writeBatch([{ tag: 'a', points }], true), signal)
  assert.ok(pause.mock.callCount() > 0)
  assert.equal(add.mock.callCount(), 0)

  const expected = new Map<number, number>()
  for (const { times, values } of [descending, mixed]) {
    for (const [i, time] of times.entries()) expected.set(time, values[i]!)
  }
  const rows = [...expected].sort(([a], [b]) => a - b)
  for (const flush of [false, true]) {
    if (flush) await store.flush()
    const [read] = await store.readRanges([{ tag: 'a', ...EVER }], signal)
    const { times, values } = read!.points
    assert.equal(times.length, rows.length)
    assert.ok(rows.every(([time, value], i) => times[i] === time && values[i] === value))
  }
})

test('what waits together in one commit counts in the order in which it came', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const writes = [1, 2, 3].map((value) => pointsAt((i) => COUNT - i, value))
  await Promise.all(writes.map((points) => store.write(writeBatch([{ tag: 'a', points }], true), signal)))
  const [read] = await store.readRanges([{ tag: 'a', ...EVER }], signal)
  assert.equal(read!.points.times.length, COUNT)
  assert.ok(read!.points.values.every((value) => value === 3))
})
