import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep } from '../../../test/property/retention-model.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { makeColumns } from '../../series/columns.ts'
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
  const next = TimeSlice.shared.next.bind(TimeSlice.shared)
  let flushed: Promise<void> | null = null
  t.mock.method(TimeSlice.shared, 'next', async () => {
    if (flushed === null) {
      flushed = store.flush()
      await flushed
    }
    return next()
  })
  const result = await run()
  assert.ok(flushed !== null)
  t.mock.restoreAll()
  return result
}

test('a check counts the points of one moment, whatever is flushed meanwhile', async (t) => {
  const store = await openBench(t)
  const { points } = await withFlush(t, store, () => store.check(signal))
  assert.equal(points, 10 * TAGS.length)
})

test('a preview of retention is of one moment, whatever is flushed meanwhile', async (t) => {
  const store = await openBench(t)
  const preview = () => store.previewRetention([keep('*', 1)], 1_000_012, signal)
  const before = await preview()
  assert.equal(before.rules[0]!.points, 5.5 * TAGS.length)
  assert.deepEqual(await withFlush(t, store, preview), before)
})
