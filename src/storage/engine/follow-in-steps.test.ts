import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { makeColumns } from '../../series/columns.ts'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import { openInProcess } from '../files/open-files.fixture.ts'
import { Memtable } from '../memtable/memtable.ts'
import { TagPoints } from '../memtable/tag-points.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const EVER = { from: 0, to: 1e15, order: 'asc', limit: 1e6 } as const
const limits = { reserveBytes: 0, idleMergeAfterMs: 1e9 }
const TAGS = ['a', 'b', 'c', 'tag 7', 'renamed 9']
const MANY = Array.from({ length: 10_000 }, (_, i) => `tag ${i}`)

let values = 0

function pointsAt(count: number, timeOf: (i: number) => number) {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = timeOf(i)
    points.values[i] = ++values
  }
  return points
}

async function both(t: TestContext) {
  const folder = temporaryFolder(t)
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits })
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits })
  t.after(async () => {
    await reader.close()
    await owner.close()
  })
  return { owner, reader }
}

async function allOf(store: FileStore) {
  const read = await store.readRanges(
    TAGS.map((tag) => ({ tag, ...EVER })),
    signal,
  )
  return read.map(({ points: { times, values, statuses } }) => ({ times, values, statuses }))
}

const write = (tag: string, count: number, timeOf: (i: number) => number) => (owner: FileStore) =>
  owner.write(writeBatch([{ tag, points: pointsAt(count, timeOf) }], true), signal)

/** Changes in the log, long and short. */
const CHANGES: readonly ((owner: FileStore) => Promise<unknown>)[] = [
  write('a', 100_000, (i) => 100_000 - i),
  write('a', 3, (i) => 50 + i),
  write('b', 120_000, (i) => (i * 7_919) % 100_003),
  (owner) =>
    owner.write(
      writeBatch(
        MANY.map((tag) => ({ tag, points: pointsAt(1, () => 5) })),
        true,
      ),
      signal,
    ),
  write('a', 90_000, (i) => 140_000 - i),
  (owner) => owner.deletePoints([{ tag: 'a', from: 70_000, to: 80_000 }], false, signal),
  (owner) => owner.flush(),
  write('a', 80_000, (i) => 90_000 - i),
  (owner) =>
    owner.renameTags(
      MANY.map((from) => ({ from, to: from.replace('tag', 'renamed') })),
      false,
      signal,
    ),
  write('c', 70_000, (i) => i),
  write('c', 70_000, (i) => 70_000 - i),
  (owner) => owner.flush(),
  write('b', 66_000, (i) => 66_000 - i),
]

for (const together of [1, 3, CHANGES.length]) {
  test(`each of many reads at once has all of ${together} changes, long and short, that another process made`, async (t) => {
    const { owner, reader } = await both(t)
    for (let from = 0; from < CHANGES.length; from += together) {
      for (const change of CHANGES.slice(from, from + together)) await change(owner)
      const expected = await allOf(owner)
      for (const read of await Promise.all(Array.from({ length: 3 }, () => allOf(reader)))) {
        assert.deepEqual(read, expected)
      }
    }
  })
}

test('a process that follows lets others in before it applies very many points, and adds none of those one by one', async (t) => {
  const { owner, reader } = await both(t)
  await write('a', 150_000, (i) => (i * 7_919) % 400_009)(owner)
  const add = t.mock.method(TagPoints.prototype, 'add')
  const pause = t.mock.method(TimeSlice.shared, 'next')
  const [read] = await reader.readRanges([{ tag: 'a', ...EVER }], signal)
  assert.equal(read!.points.times.length, 150_000)
  assert.equal(add.mock.callCount(), 0)
  assert.ok(pause.mock.callCount() > 0)
})

test('a process that follows prepares changes of very many tags before it applies them', async (t) => {
  const { owner, reader } = await both(t)
  await CHANGES[3]!(owner)
  const prepare = t.mock.method(MemoryCatalog.prototype, 'prepare')
  const settle = t.mock.method(MemoryCatalog.prototype, 'settle')
  const [read] = await reader.readRanges([{ tag: 'tag 7', ...EVER }], signal)
  assert.equal(read!.points.times.length, 1)
  assert.equal(prepare.mock.callCount(), 1)
  assert.equal(settle.mock.callCount(), 1)
})

test('reads fail when a process that follows is closed while it reads a long log on, and no file stays open', {
  skip: openInProcess('') === null && 'the system does not tell what a process has open',
}, async (t) => {
  const folder = temporaryFolder(t)
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits })
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits })
  // More than is read of the log in a step.
  await write('a', 900_000, (i) => (i * 7_919) % 4_000_037)(owner)
  const query = { tag: 'a', find: 'before' as const, at: 1e15 }
  const reads = [
    reader.readRanges([{ tag: 'a', ...EVER }], signal),
    Promise.resolve(reader.readPoints([query], signal)),
  ]
  await reader.close()
  for (const read of reads) await assert.rejects(read, { message: 'the historian is closed' })
  await owner.close()
  assert.deepEqual(openInProcess(folder), [])
})

test('a process that follows takes a change that it cannot prepare, or take at once, and misses nothing', async (t) => {
  const counts = async ({ reader }: { readonly reader: FileStore }) => {
    const ranges = ['a', 'b'].map((tag) => ({ tag, from: 0, to: 1e15 }))
    return [...(await reader.countPoints(ranges, 1e9, signal))]
  }
  const noMemory = () => {
    throw new RangeError('Array buffer allocation failed')
  }
  for (const method of ['prepare', 'applyAll'] as const) {
    const stores = await both(t)
    await write('a', 150_000, (i) => (i * 7_919) % 400_009)(stores.owner)
    await write('b', 1, () => 1)(stores.owner)
    const { mock } = t.mock.method(Memtable.prototype, method, noMemory, { times: 1 })
    assert.deepEqual(await counts(stores), [150_000, 1], method)
    assert.ok(mock.callCount() > 0)
    t.mock.restoreAll()
  }
})
