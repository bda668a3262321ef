import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { Garbage, type GarbageLimits } from './garbage.ts'

/** Of versions that are published at once, on a disk that is not full. */
function garbageOf(
  files: Files,
  limits: GarbageLimits,
  version: () => number = () => 1,
  check: () => void = () => {},
): Garbage {
  const garbage = new Garbage(files, limits, version, check, () => false)
  garbage.published(Number.POSITIVE_INFINITY)
  return garbage
}

/** Stops the clock and timers; gives what lets so many milliseconds pass. */
function steppedTime(t: TestContext): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  return async (ms) => {
    now += ms
    t.mock.timers.tick(ms)
    // Removing goes on in later turns.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('very many files wait until readers have moved on, and go at the end', async () => {
  const removed: string[] = []
  const files = { ...systemFiles, remove: (path: string) => void removed.push(path) }
  const limits = { soonestMs: 1_000_000, latestMs: 2_000_000 }
  const garbage = garbageOf(files, limits)
  const names = Array.from({ length: 300_000 }, (_, i) => `${i}.part`)
  garbage.readerAt(1, 0)
  garbage.add('parts', names)
  garbage.readerAt(1, 2)
  assert.equal(removed.length, 0)
  await garbage.close()
  assert.equal(removed.length, names.length)
})

test('files that are due go beside this thread, one after the other, and a close waits for them', async () => {
  const removed: string[] = []
  const waiting: (() => void)[] = []
  const files = {
    ...systemFiles,
    remove: () => assert.fail('it would hold up all others'),
    removeAside: (path: string) =>
      new Promise<void>((resolve) => {
        waiting.push(() => {
          removed.push(path)
          resolve()
        })
      }),
  }
  const garbage = garbageOf(files, { soonestMs: 0, latestMs: 0 })
  garbage.add('parts', ['a', 'b'])
  const begun = async () => {
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    return waiting.shift()!
  }
  const endFirst = await begun()
  assert.deepEqual(waiting, [])
  let isClosed = false
  const closing = garbage.close().then(() => {
    isClosed = true
  })
  endFirst()
  const endLast = await begun()
  assert.equal(isClosed, false)
  endLast()
  await closing
  assert.deepEqual(removed, ['parts/a', 'parts/b'])
})

test('what is due is waited for where room is needed', async () => {
  const removed: string[] = []
  const files = {
    ...systemFiles,
    removeAside: async (path: string) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      removed.push(path)
    },
  }
  const garbage = garbageOf(files, { soonestMs: 0, latestMs: 1e9 })
  assert.equal(await garbage.settle(false), false)
  garbage.add('parts', ['a', 'b'])
  assert.equal(await garbage.settle(false), true)
  assert.deepEqual(removed, ['parts/a', 'parts/b'])
  // What somebody still reads stays.
  garbage.readerAt(1, 0)
  garbage.add('parts', ['c'])
  assert.equal(await garbage.settle(false), false)
  assert.equal(removed.length, 2)
  await garbage.close()
})

test('files wait for a reader that stands still until the latest moment, and no longer', async (t) => {
  const pass = steppedTime(t)
  const removed: string[] = []
  const files = { ...systemFiles, removeAside: async (path: string) => void removed.push(path) }
  let version = 5
  const garbage = garbageOf(files, { soonestMs: 10_000, latestMs: 60_000 }, () => version)
  // The one has moved on, the other one reads what was before and says nothing more.
  garbage.readerAt(1, 5)
  garbage.readerAt(2, 4)
  garbage.add('parts', ['a'])
  await pass(30_000)
  version = 6
  garbage.add('parts', ['b'])
  await pass(29_999)
  assert.deepEqual(removed, [])
  await pass(1)
  assert.deepEqual(removed, ['parts/a'])
  await pass(29_999)
  assert.deepEqual(removed, ['parts/a'])
  await pass(1)
  assert.deepEqual(removed, ['parts/a', 'parts/b'])
  // Where it has ended nobody is waited for.
  garbage.add('parts', ['c'])
  garbage.readerAt(1, 6)
  garbage.readerAt(2, null)
  await pass(9_999)
  assert.equal(removed.length, 2)
  await pass(1)
  assert.equal(removed.length, 3)
  await garbage.close()
})

test('who is superseded amid files that go removes no more of them', async () => {
  const removed: string[] = []
  let isOwner = true
  const files = {
    ...systemFiles,
    removeAside: async (path: string) => {
      removed.push(path)
      isOwner = false
    },
  }
  const garbage = garbageOf(
    files,
    { soonestMs: 0, latestMs: 0 },
    () => 1,
    () => {
      if (!isOwner) throw new Error('superseded')
    },
  )
  garbage.add('parts', ['a', 'b'])
  while (removed.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await garbage.close()
  assert.deepEqual(removed, ['parts/a'])
})

test('files wait until the version without them is published, and longer for readers from then on; on a full disk they go', async (t) => {
  const pass = steppedTime(t)
  const removed: string[] = []
  const files = {
    ...systemFiles,
    remove: (path: string) => void removed.push(path),
    removeAside: async (path: string) => void removed.push(path),
  }
  let version = 5
  let isFull = false
  const garbage = new Garbage(
    files,
    { soonestMs: 10_000, latestMs: 60_000 },
    () => version,
    () => {},
    () => isFull,
  )
  garbage.published(5)
  garbage.readerAt(1, 5)
  version = 6
  garbage.add('parts', ['a'])
  garbage.removeNow('wal', ['b'])
  await pass(3_600_000)
  assert.equal(await garbage.settle(false), false)
  assert.deepEqual(removed, [])
  garbage.published(6)
  await pass(59_999)
  assert.deepEqual(removed, [])
  await pass(1)
  assert.deepEqual(removed, ['parts/a', 'wal/b'])
  garbage.removeNow('wal', ['c'])
  assert.equal(removed.pop(), 'wal/c')

  version = 7
  garbage.add('parts', ['d'])
  await pass(59_999)
  assert.equal(await garbage.settle(true), false)
  isFull = true
  await pass(1_001)
  assert.equal(removed.pop(), 'parts/d')
  isFull = false
  garbage.add('parts', ['e'])
  await pass(60_000)
  assert.equal(await garbage.settle(true), true)
  assert.equal(removed.pop(), 'parts/e')
  await garbage.close()
})
