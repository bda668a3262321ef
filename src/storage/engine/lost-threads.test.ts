import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { MergeOrder } from '../merge/merge.ts'
import type { EngineLimits } from './engine-limits.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const NEVER_BY_ITSELF = { points: 1e9, records: 1e9, ageMs: 1e9 }

/** Threads that are started from now on, in order. */
function threadsOf(t: TestContext): Worker[] {
  const threads: Worker[] = []
  const remember = (thread: Worker) => threads.push(thread)
  process.on('worker', remember)
  t.after(() => process.off('worker', remember))
  return threads
}

/** Has threads that are started from now on end after so many milliseconds. */
function endThreads(t: TestContext, afterMs: number): void {
  const end = (thread: Worker) => {
    if (afterMs === 0) void thread.terminate()
    else setTimeout(() => void thread.terminate(), afterMs)
  }
  process.on('worker', end)
  t.after(() => process.off('worker', end))
}

interface Told {
  readonly errors: string[]
  readonly infos: string[]
}

async function opened(t: TestContext, folder: string, limits: Partial<EngineLimits>) {
  const told: Told = { errors: [], infos: [] }
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    limits,
    log: {
      info: (_fields, message) => told.infos.push(message),
      error: (_fields, message) => told.errors.push(message),
    },
  })
  let isOpen = true
  const close = async () => {
    if (isOpen) await store.close()
    isOpen = false
  }
  t.after(close)
  return { store, told, close }
}

const write = (store: FileStore, tag: string, from = 0, count = 1) => {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) points.times[i] = from + i
  return store.write(writeBatch([{ tag, points }], true), signal)
}

async function tagsOf(store: FileStore): Promise<readonly string[]> {
  const page = await store.searchTags({ matches: null, foldedPrefix: '', after: null, limit: 100 }, signal)
  return page.tags.map(({ name }) => name)
}

test('a thread of the log that ends by itself costs the requests on their way, and the next ones are written', async (t) => {
  const folder = temporaryFolder(t)
  const threads = threadsOf(t)
  const { store, told, close } = await opened(t, folder, { flush: NEVER_BY_ITSELF })
  await write(store, 'a')
  const ending = threads[0]!.terminate()
  await assert.rejects(write(store, 'unknown'), {
    code: 'WRITE_OUTCOME_UNKNOWN',
    message: /a thread of the service has ended/,
  })
  await ending
  assert.match(store.trouble ?? '', /^changes could not be made durable: a thread of the service has ended/)
  assert.deepEqual(told.errors, ['changes could not be made durable; it is tried again'])
  assert.deepEqual(await tagsOf(store), ['a'])
  await write(store, 'b')
  assert.equal(store.trouble, null)
  assert.deepEqual(told.infos, ['it is over that changes could not be made durable'])
  // One that ends while nothing is written costs nothing.
  await threads[1]!.terminate()
  assert.notEqual(store.trouble, null)
  await write(store, 'c')
  await write(store, 'd')
  assert.equal(store.trouble, null)
  assert.equal(readdirSync(join(folder, 'wal')).filter((name) => name.endsWith('.wal')).length, 3)
  await store.checkHealth(signal)
  await close()
  const { store: again } = await opened(t, folder, {})
  assert.deepEqual(await tagsOf(again), ['a', 'b', 'c', 'd'])
  assert.deepEqual((await again.check(signal)).problems, [])
})

test('while no thread of the log can be started changes are refused, reads go on, and it is tried again', async (t) => {
  const threads = threadsOf(t)
  const { store } = await opened(t, temporaryFolder(t), { flush: NEVER_BY_ITSELF })
  await write(store, 'a')
  endThreads(t, 0)
  await threads[0]!.terminate()
  for (const tag of ['b', 'c']) {
    await assert.rejects(write(store, tag), {
      code: 'WRITE_FAILED',
      message: /a thread of the service has ended/,
    })
    assert.match(store.trouble ?? '', /^changes could not be made durable/)
    assert.deepEqual(await tagsOf(store), ['a'])
  }
  process.removeAllListeners('worker')
  await write(store, 'd')
  assert.equal(store.trouble, null)
  assert.deepEqual(await tagsOf(store), ['a', 'd'])
})

test('a flush whose thread ends by itself leaves nothing behind, is told, and is done by the next try', async (t) => {
  const folder = temporaryFolder(t)
  const { store, told } = await opened(t, folder, { flush: { ...NEVER_BY_ITSELF, packedAside: 1_000 } })
  await write(store, 'a', 0, 400_000)
  const threads = threadsOf(t)
  const parts = () => readdirSync(join(folder, 'parts'))
  const reason = /a thread of the service has ended/
  const failing = assert.rejects(store.flush(), { code: 'WRITE_FAILED', message: reason })
  while (parts().length === 0) await turn()
  await threads[0]!.terminate()
  await failing
  assert.deepEqual(parts(), [])
  assert.match(store.trouble ?? '', /^points cannot be moved from memory into parts: a thread of the service/)
  assert.deepEqual(told.errors, ['points cannot be moved from memory into parts; it is tried again'])
  endThreads(t, 0)
  await store.flush()
  assert.equal(store.trouble, null)
  assert.equal(parts().length, 1)
  assert.deepEqual(await store.countPoints([{ tag: 'a', from: 0, to: 1e9 }], 1e9, signal), [400_000])
})

test('a merge whose thread ends by itself leaves nothing behind, and is told', async (t) => {
  const folder = temporaryFolder(t)
  const { store, told } = await opened(t, folder, { flush: NEVER_BY_ITSELF, idleMergeAfterMs: 1 })
  const parts = () => readdirSync(join(folder, 'parts'))
  await write(store, 'a', 0, 300_000)
  await store.flush()
  const threads = threadsOf(t)
  await write(store, 'a', 100, 300_000)
  await store.flush()
  while (parts().length < 3) await turn()
  await threads[0]!.terminate()
  while (told.errors.length === 0) await turn()
  assert.deepEqual(told.errors, ['parts cannot be merged; it is tried again'])
  assert.match(store.trouble ?? '', /^parts cannot be merged: a thread of the service has ended/)
  assert.equal(parts().length, 2)
})

/** Has the thread of merges end whenever it is given a merge that is chosen; gives how often it has. */
function endMerges(t: TestContext, isChosen: (order: MergeOrder) => boolean): () => number {
  let ends = 0
  const { postMessage } = Worker.prototype
  t.mock.method(
    Worker.prototype,
    'postMessage',
    function (this: Worker, ...given: Parameters<Worker['postMessage']>) {
      const [message] = given as unknown as [{ readonly kind?: string; readonly order: MergeOrder }]
      postMessage.apply(this, given)
      if (message.kind !== 'merge' || !isChosen(message.order)) return
      ends++
      void this.terminate()
    },
  )
  return () => ends
}

test('parts whose merges end the thread each time are set aside: others are merged, flushed and read meanwhile', async (t) => {
  const folder = temporaryFolder(t)
  const february = Date.UTC(2026, 1, 1) * 1_000
  const january = february - 86_400_000_000
  let isBad = true
  const ends = endMerges(t, ({ inputs }) => isBad && inputs.some(({ firstTime }) => firstTime < february))
  const limits = {
    flush: NEVER_BY_ITSELF,
    merge: { partitionBytes: 1, fanIn: 2, largestBytes: 1e9 },
    idleMergeAfterMs: 1e9,
    unlinkSoonestMs: 0,
    mergeAsideMs: 200,
  }
  const { store, told, close } = await opened(t, folder, limits)
  const parts = () => readdirSync(join(folder, 'parts')).length
  const counts = (other: FileStore) =>
    other.countPoints(
      [
        { tag: 'a', from: january, to: february },
        { tag: 'a', from: february, to: 2 * february },
      ],
      1e9,
      signal,
    )
  for (let round = 0; round < 2; round++) {
    await write(store, 'a', january + round, 1_000)
    await store.flush()
  }
  await until(() => told.errors.length === 2, 'they are set aside')
  assert.ok(ends() >= 3)
  const sentence =
    /^2 parts with points from 2026-01-31T00:00:00\.000Z to 2026-01-31T00:00:00\.001Z cannot be merged: \d+ tries have failed, and others follow seldom$/
  assert.equal(told.errors[0], 'parts cannot be merged; it is tried again')
  assert.match(told.errors[1]!, sentence)
  assert.match(told.errors[1]!, /: 3 tries/)
  for (let round = 0; round < 6; round++) {
    await write(store, 'a', february + round, 1_000)
    await store.flush()
    assert.deepEqual(await counts(store), [1_001, 1_000 + round])
  }
  await until(() => parts() === 3, 'the others are merged')
  await until(() => ends() >= 5, 'they are tried again')
  assert.match(store.trouble ?? '', sentence)
  assert.equal(told.errors.length, 2)
  assert.deepEqual(await counts(store), [1_001, 1_005])
  isBad = false
  await until(() => parts() === 2, 'they are merged at last')
  await until(() => store.trouble === null, 'it is over')
  assert.deepEqual(told.infos.toSorted(), [
    'all parts can be merged again',
    'it is over that parts cannot be merged',
  ])
  await close()
  const { store: again } = await opened(t, folder, limits)
  assert.deepEqual(await counts(again), [1_001, 1_005])
  assert.deepEqual((await again.check(signal)).problems, [])
})

const turn = () => new Promise((resolve) => setImmediate(resolve))
