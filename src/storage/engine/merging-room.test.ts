import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { ThreadEnded } from '../background-thread.ts'
import { systemFiles } from '../files/system-files.ts'
import type { PlanMerge } from '../merge/merge.ts'
import type { PartInfo } from '../parts/part.ts'
import { TombstoneList } from '../parts/tombstone-list.ts'
import { IDLE_MS, merging, nothing, partOf, RECLAIM_MS, turns } from './merging.fixture.ts'
import type { MergingParts } from './merging.ts'
import { openFileStore } from './open-file-store.ts'
import { PartsAside } from './parts-aside.ts'

const { signal } = new AbortController()

test('a part of which much has expired is merged when it is no longer set aside, not when it is looked at next', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const aside = new PartsAside('plant', 1_000, null)
  const looked = new Set<string>()
  const expiry = {
    keep() {},
    isDue: ({ name }: PartInfo) => !looked.has(name) && looked.add(name).size > 0,
    forget: (name: string) => looked.delete(name),
    shareOf: async () => 1,
    ofParts: async () => ({}),
  }
  const merged: string[] = []
  let failures = 3
  const others = {
    aside,
    expiry,
    reserve: { isSpent: false },
    trouble: { failed: () => 1, over() {} },
    merger: {
      merge: async ({ inputs: [input] }: { inputs: readonly PartInfo[] }) => {
        if (failures-- > 0) throw new ThreadEnded('the thread of merges', null)
        merged.push(input!.name)
        looked.add('rest')
        return { added: [partOf('rest')] }
      },
      close: async () => {},
    },
  } as unknown as Partial<MergingParts>
  const plans = { plan: nothing, planIdle: nothing, planThorough: nothing }
  const { merging: made } = merging(t, ['a'], plans, 0, others)
  made.trim()
  for (let i = 0; i < 3; i++) {
    await turns()
    await turns()
    t.mock.timers.tick(1)
  }
  assert.equal(aside.waitMs, 1_000)
  assert.deepEqual([failures, merged], [0, []])
  now = 1_000
  t.mock.timers.tick(1_000)
  await turns()
  await made.idle()
  assert.deepEqual(merged, ['a'])
  await made.close()
})

/** A set of parts, of which all points of some were taken away by a tombstone. */
/** @param points  of each part, one of which is covered where any is */
function partsOf(names: string[], covered: ReadonlySet<string>, points = 1) {
  const tombstones = TombstoneList.of([{ tag: 1, from: 0, to: 1, sequence: 1 }])
  const block = {
    blocks: 1,
    blockBefore: () => 0,
    blockFirst: () => 0,
    blockLast: () => 0,
    blockCount: () => 1,
  }
  const made = (name: string) => ({ ...partOf(name), points, firstTime: 0, lastTime: 0, lastSequence: 0 })
  return {
    get current() {
      const parts = names.map((name) => {
        const part = { info: made(name), has: () => covered.has(name), run: () => block }
        return { info: part.info, part, damage: null }
      })
      return { version: { parts: names.map(made) }, parts, tombstonesWithout: () => [tombstones] }
    },
    hold() {},
    release() {},
  } as unknown as MergingParts['parts']
}

test('what was taken away leaves parts in a rest, and after some minutes where none comes, but not amid a burst', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const names = ['a']
  const covered = new Set(names)
  const merged: string[] = []
  const others = {
    parts: partsOf(names, covered),
    versions: { checkOwner() {}, edit: async () => {} },
    merger: {
      merge: async ({ inputs: [input] }: { inputs: readonly PartInfo[] }) => {
        merged.push(input!.name)
        covered.delete(input!.name)
        return { added: [] }
      },
      close: async () => {},
    },
  } as unknown as Partial<MergingParts>
  const plans = { plan: nothing, planIdle: nothing, planThorough: nothing }
  const { merging: made } = merging(t, [], plans, 0, others)
  const pass = async (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
    await turns()
  }
  const flushes = async (ms: number, eachMs: number, isHasty: boolean) => {
    for (const end = now + ms; now < end; await pass(eachMs)) {
      made.goOn(isHasty)
      await turns()
    }
  }
  // Flushes that are no burst, and never rest.
  await flushes(RECLAIM_MS, IDLE_MS / 2, false)
  assert.deepEqual(merged, [])
  await flushes(1, IDLE_MS / 2, false)
  assert.deepEqual(merged.splice(0), ['a'])
  // A rest.
  covered.add('a')
  await pass(IDLE_MS)
  assert.deepEqual(merged.splice(0), ['a'])
  // However long that was, a burst after it is left alone.
  covered.add('a')
  await pass(10 * RECLAIM_MS)
  await flushes(RECLAIM_MS / 2, 1_000, true)
  assert.deepEqual(merged, [])
  // It is none any more.
  await flushes(RECLAIM_MS, 1_000, true)
  assert.deepEqual(merged, ['a'])
  await made.close()
})

/** Takes all parts, where there are several. */
const all: PlanMerge = (parts, _limits, excluded) => {
  const inputs = parts.filter(({ name }) => !excluded.has(name))
  return inputs.length < 2 ? null : { inputs }
}

test('a merge that the disk has no room for is not begun, smaller ones are, and it is told until there is room', async (t) => {
  let room = 50
  const told: unknown[] = []
  const others = {
    roomBytes: () => room,
    reserve: { isSpent: false, giveUp: () => assert.fail('it is for what makes room') },
    trouble: { failed: ({ code }: { code: string }) => told.push(code), over: () => told.push('over') },
  } as unknown as Partial<MergingParts>
  const plans = { plan: all, planIdle: nothing, planThorough: nothing }
  const { merging: made, parts, merged, finish } = merging(t, [], plans, 0, others)
  const sized = (name: string, bytes: number) => ({ ...partOf(name), bytes })
  parts.push(sized('a', 100), sized('b', 120), sized('c', 10), sized('d', 10))
  made.goOn()
  await finish()
  assert.deepEqual(merged.splice(0), ['c+d'])
  assert.deepEqual(told.splice(0), ['NO_ROOM_TO_MERGE'])
  // In a rest, and with the next flush.
  t.mock.timers.tick(IDLE_MS)
  await turns()
  made.goOn()
  await turns()
  assert.deepEqual([merged, told.splice(0)], [[], ['NO_ROOM_TO_MERGE', 'NO_ROOM_TO_MERGE']])
  room = 1_000
  t.mock.timers.tick(IDLE_MS)
  await finish()
  assert.deepEqual(merged, ['a+b+(c+d)'])
  assert.deepEqual(told, ['over'])
  await made.close()
})

test('what only a rest merges and has no room is not told as over by what is merged between rests', async (t) => {
  const told: string[] = []
  const others = {
    roomBytes: () => 0,
    trouble: { failed: () => told.push('failed'), over: () => told.push('over') },
  } as unknown as Partial<MergingParts>
  const plans = { plan: nothing, planIdle: all, planThorough: nothing }
  const { merging: made } = merging(t, ['a', 'b'], plans, 0, others)
  made.goOn()
  await turns()
  assert.deepEqual(told.splice(0), ['over'])
  t.mock.timers.tick(IDLE_MS)
  await turns()
  made.goOn()
  await turns()
  assert.deepEqual(told, ['failed', 'failed'])
  await made.close()
})

test('what is being removed is waited for before a merge is found to have no room', async (t) => {
  let room = 0
  const others = {
    roomBytes: () => room,
    makeRoom: async () => {
      room = 100
      return true
    },
  }
  const plans = { plan: all, planIdle: nothing, planThorough: nothing }
  const { merging: made, merged, finish } = merging(t, ['a', 'b'], plans, 0, others)
  made.goOn()
  await finish()
  assert.deepEqual(merged, ['a+b'])
  await made.close()
})

test('parts of which much was taken away, or has expired, are merged although others have no room', async (t) => {
  const names = ['a', 'b', 'c']
  const covered = new Set(['b'])
  const merged: string[] = []
  const others = {
    parts: partsOf(names, covered),
    roomBytes: () => 0,
    versions: { checkOwner() {}, edit: async () => {} },
    trouble: { failed: () => 1_000, over: () => assert.fail('others wait') },
    expiry: {
      keep() {},
      isDue: ({ name }: PartInfo) => name === 'c' && !merged.includes('c'),
      shareOf: async () => 1,
      ofParts: async () => ({}),
    },
    merger: {
      merge: async ({ inputs }: { inputs: readonly PartInfo[] }) => {
        assert.equal(inputs.length, 1, 'there is no room for more')
        merged.push(inputs[0]!.name)
        covered.clear()
        return { added: [] }
      },
      close: async () => {},
    },
  } as unknown as Partial<MergingParts>
  const plans = { plan: all, planIdle: nothing, planThorough: nothing }
  const { merging: made } = merging(t, [], plans, 0, others)
  made.goOn()
  for (let i = 0; i < 4; i++) await turns()
  assert.deepEqual(merged.splice(0), ['b'])
  made.trim()
  for (let i = 0; i < 4; i++) await turns()
  assert.deepEqual(merged, ['c'])
  await made.close()
})

test('a part of which much was taken away is not merged without room for what is left of it, and it is told', async (t) => {
  const covered = new Set(['a'])
  const merged: string[] = []
  const told: string[] = []
  let room = 0.4
  const others = {
    parts: partsOf(['a'], covered, 2),
    roomBytes: () => room,
    versions: { checkOwner() {}, edit: async () => {} },
    trouble: { failed: ({ message }: Error) => told.push(message) && 1_000, over() {} },
    merger: {
      merge: async ({ inputs }: { inputs: readonly PartInfo[] }) => {
        merged.push(...inputs.map(({ name }) => name))
        covered.clear()
        return { added: [] }
      },
      close: async () => {},
    },
  } as unknown as Partial<MergingParts>
  const plans = { plan: nothing, planIdle: nothing, planThorough: nothing }
  const { merging: made } = merging(t, [], plans, 0, others)
  const rest = async () => {
    t.mock.timers.tick(IDLE_MS)
    for (let i = 0; i < 4; i++) await turns()
  }
  made.goOn()
  await turns()
  await rest()
  assert.deepEqual(merged, [])
  assert.deepEqual(told, ['a merge takes up to 1 bytes of disk, and 0.4 may be written'])
  room = 0.6
  await rest()
  assert.deepEqual(merged, ['a'])
  await made.close()
})

test('a store merges within what is free and what is set aside, and says where that is too little', async (t) => {
  const folder = temporaryFolder(t)
  const reserveBytes = 1 << 16
  let free = 2 ** 40
  const files = { ...systemFiles, freeBytes: () => free }
  const merge = { partitionBytes: 1e9, fanIn: 2, largestBytes: 1e9 }
  const limits = { reserveBytes, merge, idleMergeAfterMs: 1e9, unlinkSoonestMs: 0 }
  const open = () => openFileStore(folder, { historian: 'plant', owner: true, files, limits })
  const first = await open()
  const reserve = join(folder, 'wal', 'reserve')
  await until(
    () => systemFiles.exists(reserve) && statSync(reserve).size === reserveBytes,
    'room is set aside',
  )
  await first.close()
  // Nobody sees when the first one may count on it, which is when it is synced; the next one may from its start.
  const store = await open()
  t.after(() => store.close())
  let from = 0
  /** Points that are hard to pack, some 10 bytes each. */
  const put = async (count: number) => {
    const points = makeColumns(count)
    for (let i = 0; i < count; i++) {
      points.times[i] = from + i
      points.values[i] = Math.sqrt(from + i)
    }
    from += count
    await store.write(writeBatch([{ tag: 'a', points }], true), signal)
    await store.flush()
  }
  const partCount = () => readdirSync(join(folder, 'parts')).length
  free = 0
  for (let i = 0; i < 3; i++) await put(1_000)
  assert.equal(store.trouble, null)
  await until(() => partCount() === 1, 'what fits into what is set aside is merged')
  for (let i = 0; i < 3; i++) await put(10_000)
  assert.equal(store.trouble, 'parts cannot be merged: the disk has less free space than a merge takes')
  free = 2 ** 40
  await put(1)
  await until(() => partCount() === 1, 'all is merged')
  assert.equal(store.trouble, null)
  assert.deepEqual((await store.check(signal)).problems, [])
})
