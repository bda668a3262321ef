import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { MERGE_LIMITS } from '../merge/merge.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

/** Files whose parts are synced when the test says so. */
function filesWaitingFor(released: () => Promise<void>): Files {
  const waiting = (file: FileHandle) =>
    new Proxy(file, {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (key === 'sync') return () => released().then(() => target.sync())
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return {
    ...systemFiles,
    create: (path) => (path.endsWith('.part') ? waiting(systemFiles.create(path)) : systemFiles.create(path)),
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

const partsIn = (folder: string) => readdirSync(join(folder, 'parts'))

/** Waits until there are so many parts and a manifest names each. */
async function named(folder: string, count: number): Promise<void> {
  const manifest = join(folder, 'manifest')
  const isNamed = (part: string) =>
    existsSync(manifest) &&
    readdirSync(manifest).some((name) => readFileSync(join(manifest, name), 'latin1').includes(part))
  while (partsIn(folder).length < count || !partsIn(folder).every(isNamed)) await turn()
}

let written = 0
async function write(store: FileStore, count: number): Promise<void> {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) points.times[i] = ++written
  await store.write(writeBatch([{ tag: 'A', points }], true), signal)
}

test('points that come while a flush takes longer than the wait for the next are not flushed before the wait is over', async (t) => {
  const folder = temporaryFolder(t)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files: filesWaitingFor(() => released),
    limits: {
      flush: { points: 100, records: 1e9, ageMs: 1e9, idle: { points: 10, afterMs: 1_000 } },
      reserveBytes: 0,
    },
  })
  t.after(() => store.close())
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await write(store, 100)
  for (let i = 0; i < 4; i++) {
    t.mock.timers.tick(900)
    await write(store, 10)
  }
  release()
  await named(folder, 1)
  for (let i = 0; i < 20; i++) await turn()
  assert.equal(partsIn(folder).length, 1)
  t.mock.timers.tick(1_000)
  await named(folder, 2)
})

test('a flush of tags with a thousand points may let others in after each of them', async (t) => {
  const limits = { flush: { points: 1e9, records: 1e9, ageMs: 1e9 } }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const points = makeColumns(1_024)
  for (let i = 0; i < 1_024; i++) points.times[i] = i
  const tags = Array.from({ length: 50 }, (_, tag) => ({ tag: String(tag), points }))
  await store.write(writeBatch(tags, true), signal)
  // A clock on which every step takes long.
  let now = performance.now()
  t.mock.method(performance, 'now', () => (now += 2))
  const rests = t.mock.method(TimeSlice.shared, 'next')
  await store.flush()
  assert.ok(rests.mock.callCount() >= 49, `${rests.mock.callCount()} rests`)
})

test('while flushing is behind small writes go on when large ones have to wait', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const store = await openFileStore(temporaryFolder(t), {
    historian: 'plant',
    owner: true,
    files: filesWaitingFor(() => released),
    limits: { flush: { points: 2_000, records: 1e9, ageMs: 1e9 }, reserveBytes: 0 },
  })
  t.after(() => store.close())
  await write(store, 2_000)
  await write(store, 4_000)
  const answered: string[] = []
  const large = write(store, 1_001).then(() => answered.push('large'))
  await write(store, 1_000)
  answered.push('small')
  await write(store, 1_000)
  const last = write(store, 1).then(() => answered.push('last'))
  const controller = new AbortController()
  const gone = store.write(writeBatch([{ tag: 'A', points: makeColumns(1_001) }], true), controller.signal)
  controller.abort(new Error('gone'))
  await assert.rejects(gone, /gone/)
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(answered, ['small'])
  release()
  await Promise.all([large, last])
})

test('parts are merged when no flush follows another one closely any more', async (t) => {
  const folder = temporaryFolder(t)
  let released = Promise.resolve()
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files: filesWaitingFor(() => released),
    limits: {
      flush: { points: 100, records: 1e9, ageMs: 1e9 },
      merge: { ...MERGE_LIMITS, fanIn: 3 },
      idleMergeAfterMs: 1e9,
      unlinkSoonestMs: 0,
      reserveBytes: 0,
    },
  })
  t.after(() => store.close())
  await write(store, 50)
  for (let flushes = 1; flushes <= 4; flushes++) {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    released = promise
    await write(store, 50)
    while (partsIn(folder).length < flushes) await turn()
    // Half of what is flushed at a time comes while this flush waits.
    await write(store, 50)
    release()
    await named(folder, flushes)
    for (let i = 0; i < 20; i++) await turn()
    assert.equal(partsIn(folder).length, flushes)
  }
  await store.flush()
  while (partsIn(folder).length > 1) await turn()
})

test('what is packed beside the thread that answers has all points, whatever comes and goes meanwhile', async (t) => {
  const folder = temporaryFolder(t)
  const limits = { flush: { points: 1e9, records: 1e9, ageMs: 1e9, packedAside: 1 } }
  const open = () => openFileStore(folder, { historian: 'plant', owner: true, limits })
  let store = await open()
  t.after(() => store.close())
  const model = new Map<string, Map<number, number>>()
  let value = 0
  const add = async (tag: string, from: number, count: number, isRandom: boolean) => {
    const points = makeColumns(count)
    for (let i = 0; i < count; i++) {
      // Multiples of the golden section lie all over.
      const at = isRandom ? Math.floor((((value + i) * 0.6180339887498949) % 1) * count) : i
      points.times[i] = from + at
      points.values[i] = value + i
    }
    value += count
    await store.write(writeBatch([{ tag, points }], true), signal)
    const known = model.get(tag) ?? new Map<number, number>()
    model.set(tag, known)
    points.times.forEach((time, i) => {
      known.set(time, points.values[i]!)
    })
  }
  const remove = async (tag: string, from: number, to: number) => {
    await store.deletePoints([{ tag, from, to }], false, signal)
    for (const time of model.get(tag)!.keys()) if (time >= from && time < to) model.get(tag)!.delete(time)
  }
  const check = async () => {
    for (const [tag, known] of model) {
      const query = { tag, from: 0, to: 1e9, order: 'asc', limit: 1e6 } as const
      const [range] = await store.readRanges([query], signal)
      const rows = [...known].sort(([one], [other]) => one - other)
      assert.deepEqual(
        Array.from(range!.points.times),
        Array.from(rows, ([time]) => time),
      )
      assert.deepEqual(
        Array.from(range!.points.values),
        Array.from(rows, ([, each]) => each),
      )
    }
  }
  for (let round = 0; round < 2; round++) {
    for (const [tag, count] of [
      ['few', 3],
      ['in order', 100_000],
      ['many', 150_000],
      ['other', 40_000],
    ] as const) {
      await add(tag, round * 50_000, count, tag !== 'in order')
      await add(tag, round * 30_000, count, tag !== 'in order')
    }
    const flushed = store.flush()
    await add('few', 1, 200, true)
    await remove('many', 10_000, 60_000)
    await add('many', 20_000, 5_000, true)
    await remove('in order', 90_000, 90_050)
    await check()
    await flushed
    await check()
  }
  await store.close()
  store = await open()
  await check()
  assert.deepEqual((await store.check(signal)).problems, [])
})

test('a flush that cannot be packed leaves the points where they are, and is tried again', async (t) => {
  const folder = temporaryFolder(t)
  const limits = { flush: { points: 1e9, records: 1e9, ageMs: 1e9, packedAside: 1 } }
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  await write(store, 100)
  const parts = join(folder, 'parts')
  rmSync(parts, { recursive: true })
  await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
  assert.match(store.trouble ?? '', /cannot be moved/)
  assert.equal(store.measure().journalPoints, 100)
  mkdirSync(parts)
  await store.flush()
  assert.equal(store.trouble, null)
  assert.equal(store.measure().journalPoints, 0)
  assert.equal(readdirSync(parts).length, 1)
})
