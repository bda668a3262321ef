import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { harmEntries, withWrongBit } from '../../test/durability/damage.ts'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import type { FoldLimits } from './folder.ts'
import type { HistorianStore } from './historian-store.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()
const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

const NEVER_FULL: FoldLimits = { points: 1e9, records: 1e9, ageMs: 1e9 }
const RESTLESS: FoldLimits = { points: 5, records: 3, ageMs: 1e9 }

/** So many take long enough for any folding to end. */
const MANY_WRITES = 500

const open = (folder: string, fold: Partial<FoldLimits> = NEVER_FULL) =>
  openHistorianStore(folder, { historian: 'plant', owner: true, fold })

function ramp(count: number, from: number, value: number): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) columns.times[i] = from + i
  columns.values.fill(value)
  return columns
}

const write = (store: HistorianStore, tags: Readonly<Record<string, PointColumns>>, createTags = true) =>
  store.write(
    writeBatch(
      Object.entries(tags).map(([tag, points]) => ({ tag, points })),
      createTags,
    ),
    signal,
  )

const read = async (store: HistorianStore, tag: string) =>
  (await store.readRanges([{ tag, ...EVER }], signal))[0]!.points

const newest = async (store: HistorianStore, tag: string) => {
  const { times, values } = await store.readPoints([{ tag, find: 'before-or-at', at: 1e15 }], signal)
  return [times[0], values[0]]
}

/** A folder with a tag, the first one, whose block cannot be read. */
async function damagedFolder(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  await write(store, { damaged: ramp(40, 0, 1) })
  await store.fold()
  await store.close()
  const harmed = await harmEntries(folder, 'points', (_key, value) => withWrongBit(value, 20))
  assert.equal(harmed, 1)
  return folder
}

test('writes of the same time share a commit and keep a record each, until they are folded', async (t) => {
  const store = await open(temporaryFolder(t))
  t.after(() => store.close())
  await Promise.all(['a', 'b', 'c'].map((tag) => write(store, { [tag]: ramp(3, 0, 1) })))
  const { records, blocks, points } = await store.check(signal)
  assert.deepEqual([records, blocks, points], [3, 0, 9])
  assert.equal((await read(store, 'b')).times.length, 3)
  await store.fold()
  const after = await store.check(signal)
  assert.deepEqual([after.records, after.points, after.problems], [0, 9, []])
  assert.equal((await read(store, 'b')).times.length, 3)
})

test('folding ends although others write all the time', async (t) => {
  const store = await open(temporaryFolder(t), RESTLESS)
  t.after(() => store.close())
  await write(store, { tag: ramp(100, 0, 1) })
  let isFolded = false
  let written = 0
  const writing = (async () => {
    for (; !isFolded && written < MANY_WRITES; written++)
      await write(store, { tag: ramp(10, 1_000 + 10 * written, 1) })
  })()
  await store.fold()
  isFolded = true
  assert.ok(written < MANY_WRITES)
  await writing
  assert.equal((await read(store, 'tag')).times.length, 100 + 10 * written)
})

test('what nobody adds to is folded when it has become old', async (t) => {
  const store = await open(temporaryFolder(t), { ...NEVER_FULL, ageMs: 5 })
  t.after(() => store.close())
  await write(store, { a: ramp(3, 0, 1) })
  while ((await store.check(signal)).records > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  assert.equal((await store.check(signal)).points, 3)
})

test('the rest of many points is folded soon after the last of them, and a few points wait', async (t) => {
  const store = await open(temporaryFolder(t), { ...NEVER_FULL, rest: { points: 10, afterMs: 5 } })
  t.after(() => store.close())
  await write(store, { a: ramp(9, 0, 1) })
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal((await store.check(signal)).records, 1)
  await write(store, { b: ramp(1, 0, 1) })
  while ((await store.check(signal)).records > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  // Once more: the timer is used again.
  await write(store, { a: ramp(10, 100, 1) })
  while ((await store.check(signal)).records > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  assert.equal((await store.check(signal)).points, 20)
})

test('a write that is refused makes none of its tags', async (t) => {
  const store = await open(await damagedFolder(t))
  t.after(() => store.close())
  await write(store, { damaged: ramp(1, 100, 1) })
  await store.fold()
  await assert.rejects(
    write(store, { new: ramp(1, 0, 1), damaged: ramp(1, 101, 1) }),
    hasCode('STORAGE_CORRUPT'),
  )
  assert.deepEqual(await store.findTags(['new'], signal), [null])
  await assert.rejects(write(store, { damaged: ramp(1, 0, 1), none: ramp(1, 0, 1) }, false))
  assert.deepEqual(await store.findTags(['none'], signal), [null])
})

test('a write that is refused leaves the others of its commit alone: they are committed once', async (t) => {
  const store = await open(await damagedFolder(t))
  t.after(() => store.close())
  await write(store, { damaged: ramp(1, 100, 1) })
  await store.fold()
  const { records } = await store.check(signal)
  const outcomes = await Promise.allSettled([
    write(store, { a: ramp(1, 0, 1) }),
    write(store, { damaged: ramp(1, 101, 1) }),
    write(store, { b: ramp(1, 0, 1) }),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((await store.check(signal)).records, records + 2)
})

test('points that cannot be folded never stand in the way of newer ones', async (t) => {
  const folder = await damagedFolder(t)
  const store = await open(folder, RESTLESS)
  // One after the other, until folding found the damage, which it does beside one of these writes.
  let last = 0
  await assert.rejects(async () => {
    for (let value = 1; value < 1_000; value++) {
      await write(store, { damaged: ramp(2, 100, value), sound: ramp(2, 100, value) })
      last = value
    }
  }, hasCode('STORAGE_CORRUPT'))
  assert.ok(last > 0)
  await store.close()
  // With the block mended, what was acknowledged is seen.
  await harmEntries(folder, 'points', (key, value) => (key[3] === 1 ? withWrongBit(value, 20) : undefined))
  const again = await open(folder, RESTLESS)
  t.after(() => again.close())
  for (const tag of ['damaged', 'sound']) assert.deepEqual(await newest(again, tag), [101, last], tag)
})

test('points that cannot be folded do not keep folding busy', async (t) => {
  const store = await open(await damagedFolder(t), RESTLESS)
  t.after(() => store.close())
  await write(store, { damaged: ramp(50, 100, 1), sound: ramp(2, 0, 1) })
  await store.fold()
  const { records } = await store.check(signal)
  assert.equal(records, 1)
  await write(store, { sound: ramp(2, 2, 1) })
  assert.equal((await store.check(signal)).records, 2)
  await write(store, { sound: ramp(5, 4, 1) })
  await store.fold()
  assert.equal((await store.check(signal)).records, 1)
  assert.equal((await read(store, 'sound')).times.length, 9)
})

test('a tag that is damaged can be deleted with what waits in the journal, and made anew', async (t) => {
  const folder = await damagedFolder(t)
  const store = await open(folder, RESTLESS)
  await write(store, { damaged: ramp(1, 100, 1), sound: ramp(9, 0, 1) })
  await store.fold()
  await store.deleteTags(['damaged'], false, signal)
  await write(store, { damaged: ramp(3, 0, 7) })
  await store.close()
  const again = await open(folder, RESTLESS)
  t.after(() => again.close())
  assert.deepEqual([...(await read(again, 'damaged')).values], [7, 7, 7])
  await again.fold()
  assert.deepEqual((await again.check(signal)).problems, [])
})

test('points that were deleted do not come back, whatever of them was in memory, in blocks or in both', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder, { ...RESTLESS, points: 1e9 })
  await write(store, { a: ramp(100, 0, 1), b: ramp(100, 0, 1) })
  await store.fold()
  await write(store, { a: ramp(50, 80, 2), b: ramp(50, 80, 2) })
  assert.deepEqual(await store.deletePoints([{ tag: 'a', from: 60, to: 120 }], false, signal), [60])
  await write(store, { a: ramp(1, 100, 3) })
  await store.deleteTags(['b'], false, signal)
  const expected = [...ramp(60, 0, 1).times, 100, ...ramp(10, 120, 2).times]
  assert.deepEqual([...(await read(store, 'a')).times], expected)
  await store.close()
  const again = await open(folder)
  t.after(() => again.close())
  assert.deepEqual([...(await read(again, 'a')).times], expected)
  await again.fold()
  assert.deepEqual([...(await read(again, 'a')).times], expected)
  assert.deepEqual((await again.check(signal)).problems, [])
})

test('a newest point that is remembered is that of the newest state', async (t) => {
  const store = await open(temporaryFolder(t), RESTLESS)
  t.after(() => store.close())
  const none = [Number.NaN, 0]
  await store.putTags([{ name: 'a', description: null, units: null, stepped: false }], 'create', signal)
  assert.equal((await newest(store, 'a'))[0], none[0])
  await write(store, { a: ramp(10, 0, 1) })
  assert.deepEqual(await newest(store, 'a'), [9, 1])
  await write(store, { a: ramp(1, 9, 2) })
  assert.deepEqual(await newest(store, 'a'), [9, 2])
  await write(store, { a: ramp(5, 0, 3) })
  assert.deepEqual(await newest(store, 'a'), [9, 2])
  await store.fold()
  assert.deepEqual(await newest(store, 'a'), [9, 2])
  await store.deletePoints([{ tag: 'a', from: 4, to: 100 }], false, signal)
  assert.deepEqual(await newest(store, 'a'), [3, 3])
  await store.deletePoints([{ tag: 'a', from: 0, to: 100 }], false, signal)
  assert.equal((await newest(store, 'a'))[0], none[0])
  await write(store, { a: ramp(1, -5, 5) })
  assert.deepEqual(await newest(store, 'a'), [-5, 5])
})
