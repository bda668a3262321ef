import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import type { HistorianStore } from './historian-store.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

async function openFor(t: TestContext): Promise<HistorianStore> {
  const store = await openHistorianStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  return store
}

function constant(count: number, value: number): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) columns.times[i] = i
  columns.values.fill(value)
  return columns
}

/** What a read gives that begins before a change and lets it in. */
async function across<T>(t: TestContext, read: () => Promise<T>, change: () => Promise<unknown>): Promise<T> {
  // The read lets others in whenever it looks at the clock, which is so often that it outlasts the change.
  let now = performance.now()
  t.mock.method(performance, 'now', () => {
    now += 1_000
    return now
  })
  let isRead = false
  const reading = read().finally(() => {
    isRead = true
  })
  let isChanged = false
  const changing = change().finally(() => {
    isChanged = true
  })
  // Until then the turns wait, each longer than the one before, however slow the disk is that the change waits for.
  for (let waitMs = 10; !isChanged && !isRead; waitMs += 10) {
    await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
  }
  await changing
  assert.equal(isRead, false, 'the read was to take longer than the change')
  return reading
}

test('a read that lets a renaming of its tags in sees nothing of it', async (t) => {
  const store = await openFor(t)
  const entries = ['a', 'b'].map((tag, i) => ({ tag, points: constant(20_000, i) }))
  await store.write(writeBatch(entries, true), signal)
  const queries = Array.from({ length: 400 }, (_, i) => ({ tag: i % 2 === 0 ? 'a' : 'b', ...EVER }))
  const swap = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'a' },
  ]
  const results = await across(
    t,
    () => store.readRanges(queries, signal),
    () => store.renameTags(swap, false, signal),
  )
  results.forEach(({ points }, i) => {
    assert.equal(points.values[0], i % 2)
  })
})

test('a read that lets a removal of its tags in sees nothing of it', async (t) => {
  const store = await openFor(t)
  const entries = ['a', 'b'].map((tag, i) => ({ tag, points: constant(20_000, i) }))
  await store.write(writeBatch(entries, true), signal)
  const queries = Array.from({ length: 500 }, (_, i) => ({ tag: i % 2 === 0 ? 'a' : 'b', ...EVER }))
  const results = await across(
    t,
    () => store.readRanges(queries, signal),
    () => store.deleteTags(['a', 'b'], false, signal),
  )
  for (const { points } of results) assert.equal(points.times.length, 20_000)
})

test('finding tags while their metadata change gives all of them as they were', async (t) => {
  const store = await openFor(t)
  const put = (description: string) =>
    store.putTags(
      ['a', 'b'].map((name) => ({ name, description, units: null, stepped: false })),
      'upsert',
      signal,
    )
  // So long that they are not remembered, and finding one takes a moment.
  const [before, after] = ['before', 'after'].map((text) => text.repeat(300)) as [string, string]
  await put(before)
  const names = Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? 'a' : 'b'))
  const found = await across(
    t,
    async () => store.findTags(names, signal),
    () => put(after),
  )
  assert.deepEqual(new Set(found.map((record) => record!.description)), new Set([before]))
  assert.equal((await store.findTags(['a'], signal))[0]!.description, after)
})

/** Gives what is read between a commit of a change and the moment at which the one who made it hears of that. */
async function readAsCommitted<T>(change: () => Promise<unknown>, read: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  // What lmdb has to tell is heard after timers, and timers come next.
  await new Promise((resolveTurn) => setImmediate(resolveTurn))
  const changing = change()
  // It is worked out in this turn, and handed to lmdb in the next.
  for (let i = 0; i < 100; i++) await null
  await new Promise((resolveTurn) => setImmediate(resolveTurn))
  setTimeout(() => resolve(read()), 0)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  const result = await promise
  await changing
  return result
}

test('a removal of points shows as a whole although the newest point of a tag is remembered', async (t) => {
  const store = await openFor(t)
  await store.write(
    writeBatch(
      ['a', 'b'].map((tag) => ({ tag, points: constant(10, 1) })),
      true,
    ),
    signal,
  )
  await store.fold()
  const newest = async (...tags: string[]) =>
    store.readPoints(
      tags.map((tag) => ({ tag, find: 'before-or-at', at: 1e15 }) as const),
      signal,
    )
  await newest('a')
  const ranges = ['a', 'b'].map((tag) => ({ tag, from: 5, to: 10 }))
  const { times } = await readAsCommitted(
    () => store.deletePoints(ranges, false, signal),
    () => newest('a', 'b'),
  )
  assert.equal(times[0], times[1])
  assert.deepEqual([...(await newest('a', 'b')).times], [4, 4])
})

test('a renaming shows as a whole although the old name is remembered', async (t) => {
  const store = await openFor(t)
  await store.write(writeBatch([{ tag: 'a', points: constant(3, 1) }], true), signal)
  await store.findTags(['a'], signal)
  const found = await readAsCommitted(
    () => store.renameTags([{ from: 'a', to: 'b' }], false, signal),
    async () => store.findTags(['a', 'b'], signal),
  )
  assert.equal(found.filter((record) => record !== null).length, 1)
  assert.deepEqual(
    (await store.findTags(['a', 'b'], signal)).map((record) => record?.name),
    [undefined, 'b'],
  )
})
