import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { alwaysDue } from '../../../test/always-due.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep } from '../../../test/property/retention-model.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { Memtable } from '../memtable/memtable.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
/** So many that others are let in between them. */
const TAGS = Array.from({ length: 2_000 }, (_, i) => `${i}`)

/** A historian with points in a part and in memory, and with some that were deleted. */
async function openBench(t: TestContext): Promise<FileStore> {
  const limits = { flush: { points: 1e9, records: 1e9, ageMs: 1e9 }, idleMergeAfterMs: 1e9 }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const put = (from: number, tags: readonly string[]) => {
    const points = makeColumns(10)
    for (let i = 0; i < 10; i++) points.times[i] = from + i
    return store.write(
      writeBatch(
        tags.map((tag) => ({ tag, points })),
        true,
      ),
      signal,
    )
  }
  await put(0, TAGS)
  await store.flush()
  await put(10, TAGS.slice(0, TAGS.length / 2))
  await store.deletePoints(
    TAGS.map((tag) => ({ tag, from: 0, to: 5 })),
    false,
    signal,
  )
  return store
}

/** Has a flush come to its end when something lets others in for the first time. */
async function withFlush<T>(t: TestContext, store: FileStore, run: () => Promise<T>): Promise<T> {
  const now = performance.now.bind(performance)
  let late = 0
  t.mock.method(performance, 'now', () => {
    late += 2
    return now() + late
  })
  const { next } = TimeSlice.prototype
  let flushed: Promise<void> | null = null
  t.mock.method(TimeSlice.prototype, 'next', async function (this: TimeSlice) {
    if (flushed === null) {
      flushed = store.flush()
      await flushed
    }
    return next.call(this)
  })
  const result = await run()
  assert.ok(flushed !== null)
  t.mock.restoreAll()
  return result
}

test('a check counts the points of each tag at one moment, whatever is flushed meanwhile', async (t) => {
  const store = await openBench(t)
  const { points } = await withFlush(t, store, () => store.check(signal))
  assert.equal(points, 10 * TAGS.length)
})

test('a preview of retention is of one moment for each tag, whatever is flushed meanwhile', async (t) => {
  const store = await openBench(t)
  const preview = () => store.previewRetention([keep('*', 1)], 1_000_012, signal)
  const before = await preview()
  assert.equal(before.rules[0]!.points, 5.5 * TAGS.length)
  assert.deepEqual(await withFlush(t, store, preview), before)
})

test('neither takes what is in memory of more than some tags between two pauses', async (t) => {
  const store = await openBench(t)
  const countPauses = alwaysDue(t)
  const looks = new Map<number, number>()
  const { layers } = Memtable.prototype
  t.mock.method(Memtable.prototype, 'layers', function (this: Memtable, tag: number) {
    const pauses = countPauses()
    looks.set(pauses, (looks.get(pauses) ?? 0) + 1)
    return layers.call(this, tag)
  })
  for (const run of [
    async () => (await store.check(signal)).points,
    async () => (await store.previewRetention([keep('*', 1)], 1_000_012, signal)).rules[0]!.tags,
  ]) {
    looks.clear()
    assert.ok((await run()) >= TAGS.length)
    const counts = [...looks.values()]
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      TAGS.length,
    )
    assert.ok(Math.max(...counts) <= 32, `${Math.max(...counts)} tags`)
  }
})

test('a check counts the points of tags that no part has, and those that come into one meanwhile', async (t) => {
  const store = await openBench(t)
  const points = makeColumns(1)
  const others = TAGS.map((tag) => ({ tag: `other ${tag}`, points }))
  await store.write(writeBatch(others, true), signal)
  const expected = 10 * TAGS.length + others.length
  assert.equal((await store.check(signal)).points, expected)
  assert.equal((await withFlush(t, store, () => store.check(signal))).points, expected)
  assert.equal((await store.check(signal)).points, expected)
})

test('a check beside another process counts the points of no tag while large changes of that one come in slices', async (t) => {
  const { points, others } = await checkAmidChanges(t, null)
  // Of 0 to 9, and without those before 5 there is 100.
  assert.ok([6, 10, 150_006].includes(points - others), `${points} points`)
})

test('a check beside another process fails where its changes cannot be read amid them', async (t) => {
  await assert.rejects(checkAmidChanges(t, 'EIO'), { code: 'HISTORIAN_UNAVAILABLE' })
})

/** Checks a historian while another process makes changes. @param code  what each read of the log fails with then */
async function checkAmidChanges(t: TestContext, code: string | null) {
  const folder = temporaryFolder(t)
  const limits = { flush: { points: 1e9, records: 1e9, ageMs: 1e9 }, idleMergeAfterMs: 1e9 }
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits })
  t.after(() => owner.close())
  const put = (tags: readonly string[], times: readonly number[]) => {
    const points = makeColumns(times.length)
    points.times.set(times)
    const entries = tags.map((tag) => ({ tag, points }))
    return owner.write(writeBatch(entries, true), signal)
  }
  const first = TAGS.slice(0, 60)
  const ten = Array.from({ length: 10 }, (_, i) => i)
  await put([...first, 'x'], ten)
  const files = new FailingFiles(systemFiles)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits, files })
  t.after(() => reader.close())

  let isLooking = false
  const { layers } = Memtable.prototype
  t.mock.method(Memtable.prototype, 'layers', function (this: Memtable, tag: number) {
    isLooking = true
    return layers.call(this, tag)
  })
  let changes: Promise<unknown> | null = null
  let isChanged = false
  const change = async () => {
    // Before they come: it looks at times by itself.
    if (code !== null)
      files.plan = (call, path) => (call === 'read' && path.endsWith('.wal') ? { code } : null)
    await put(
      ['large'],
      Array.from({ length: 150_000 }, (_, i) => (i * 7_919) % 400_009),
    )
    await owner.deletePoints([{ tag: 'x', from: 0, to: 5 }], false, signal)
    await put(['x'], [100])
    await owner.flush()
    isChanged = true
    // It has them come, in slices that are long.
    const found = Promise.resolve(reader.findTags(['x'], signal))
    if (code !== null) await assert.rejects(found)
  }
  t.mock.method(TimeSlice.prototype, 'isSpent', () => true)
  t.mock.method(TimeSlice.prototype, 'next', async () => {
    if (changes === null && isLooking) {
      changes = change()
      await changes
    } else if (isChanged) await wait(20)
  })
  const { points } = await reader.check(signal)
  assert.ok(isChanged)
  return { points, others: 10 * first.length }
}
