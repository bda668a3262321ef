import assert from 'node:assert/strict'
import test from 'node:test'
import { ThreadEnded } from '../background-thread.ts'
import type { Version } from '../manifest/version.ts'
import type { PlanMerge } from '../merge/merge.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { TombstoneList } from '../parts/tombstone-list.ts'
import { IDLE_MS, merging, nothing, partOf, turns, two } from './merging.fixture.ts'
import type { MergingParts } from './merging.ts'
import { OpenParts } from './part-set.ts'
import { PartsAside } from './parts-aside.ts'

test('what waits for a rest is merged also when the rest began amid another merge', async (t) => {
  const plan: PlanMerge = (parts) => (parts.length < 4 ? null : { inputs: parts.slice(0, 2) })
  const plans = { plan, planIdle: two, planThorough: nothing }
  const { merging: made, merged, finish } = merging(t, ['a', 'b', 'c', 'd'], plans, 0)
  made.goOn()
  t.mock.timers.tick(IDLE_MS)
  await finish()
  await finish()
  await finish()
  await made.idle()
  assert.equal(merged.length, 3)
  await made.close()
})

test('what is merged seldom is merged as a whole, and then not before its time', async (t) => {
  const plans = { plan: nothing, planIdle: nothing, planThorough: two }
  const { merging: made, parts, merged, finish } = merging(t, ['a', 'b', 'c'], plans, 1e9)
  made.goOn()
  await turns()
  assert.deepEqual(merged, [])
  t.mock.timers.tick(IDLE_MS)
  await finish()
  await finish()
  await made.idle()
  assert.equal(merged.length, 2)
  parts.push(partOf('d'))
  made.goOn()
  t.mock.timers.tick(IDLE_MS)
  await turns()
  await made.idle()
  assert.equal(merged.length, 2)
  await made.close()
})

test('a flush has what waits for a rest wait anew', async (t) => {
  const plans = { plan: nothing, planIdle: two, planThorough: nothing }
  const { merging: made, parts, merged, finish } = merging(t, ['a', 'b', 'c', 'd'], plans, 0)
  made.goOn()
  t.mock.timers.tick(IDLE_MS)
  await turns()
  parts.push(partOf('e'))
  made.goOn()
  await finish()
  await made.idle()
  assert.equal(merged.length, 1)
  await made.close()
})

test('what flushes in a hurry leave is merged when they are over, or with every eighth of them', async (t) => {
  const plan: PlanMerge = (parts) => (parts.length < 2 ? null : { inputs: parts })
  const plans = { plan, planIdle: nothing, planThorough: nothing }
  const { merging: made, parts, merged, finish } = merging(t, ['a'], plans, 0)
  const flushed = async (name: string, isHasty: boolean) => {
    parts.push(partOf(name))
    made.goOn(isHasty)
    await turns()
  }
  for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) await flushed(name, true)
  assert.deepEqual(merged, [])
  await flushed('i', true)
  await finish()
  assert.deepEqual(merged, ['a+b+c+d+e+f+g+h+i'])
  await flushed('j', true)
  assert.equal(merged.length, 1)
  await flushed('k', false)
  await finish()
  assert.equal(merged[1], '(a+b+c+d+e+f+g+h+i)+j+k')
  await flushed('l', true)
  t.mock.timers.tick(IDLE_MS)
  await finish()
  assert.equal(merged[2], '((a+b+c+d+e+f+g+h+i)+j+k)+l')
  await made.close()
})

test('what a rest merges is tried again after growing pauses, and over when it is merged; the reserve goes once', async (t) => {
  const told: string[] = []
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
  let failures = 3
  const others = {
    makeRoom: async () => false,
    reserve: { isSpent: false, giveUp: () => told.push('reserve') > 0 },
    trouble: { failed: () => told.push('failed') * 1_000, over: () => told.push('over') },
    merger: {
      merge: async () => {
        if (failures-- > 0) throw full
        return { added: [partOf('c')] }
      },
      close: async () => {},
    },
  } as unknown as Partial<MergingParts>
  const plans = { plan: nothing, planIdle: two, planThorough: nothing }
  const { merging: made, parts } = merging(t, ['a', 'b'], plans, 0, others)
  made.goOn()
  await turns()
  assert.deepEqual(told.splice(0), ['over'])
  t.mock.timers.tick(IDLE_MS)
  for (let i = 0; i < 4; i++) await turns()
  assert.deepEqual(told, ['reserve', 'failed'])
  t.mock.timers.tick(2_000)
  for (let i = 0; i < 4; i++) await turns()
  assert.deepEqual(told, ['reserve', 'failed', 'failed'])
  t.mock.timers.tick(3_000)
  for (let i = 0; i < 4; i++) await turns()
  assert.deepEqual(told, ['reserve', 'failed', 'failed', 'over'])
  assert.deepEqual(
    parts.map(({ name }) => name),
    ['c'],
  )
  await made.close()
})

test('parts that were set aside are merged also when their time comes while others are looked at', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const aside = new PartsAside('plant', 1_000, null)
  // Timers are early by up to a millisecond, and planning takes a part of one.
  const plan: PlanMerge = (parts, limits, excluded) => {
    if (excluded.size === 0) return two(parts, limits, excluded)
    if (now > 0) now = 1_000.1
    return null
  }
  const plans = { plan, planIdle: nothing, planThorough: nothing }
  const { merging: made, parts, merged, finish } = merging(t, ['a', 'b'], plans, 0, { aside })
  for (let i = 0; i < 3; i++) aside.failed(parts, new ThreadEnded('the thread of merges', null))
  made.goOn()
  await turns()
  now = 999.6
  t.mock.timers.tick(1_000)
  await turns()
  assert.deepEqual(merged, [])
  t.mock.timers.tick(1)
  await finish()
  assert.deepEqual(merged, ['a+b'])
  await made.close()
})

/** What has expired of a part is not known before it is told to be nothing; gives how often it was asked for. */
function slowExpiry() {
  const asked: PromiseWithResolvers<number>[] = []
  const expiry = {
    keep() {},
    isDue: () => true,
    ofParts: async () => null,
    shareOf: () => {
      asked.push(Promise.withResolvers())
      return asked.at(-1)!.promise
    },
  } as unknown as MergingParts['expiry']
  return { expiry, asked }
}

test('parts that come while it is looked for what has expired are merged', async (t) => {
  const { expiry, asked } = slowExpiry()
  const plans = { plan: two, planIdle: nothing, planThorough: nothing }
  const { merging: made, parts, merged, finish } = merging(t, ['a'], plans, 0, { expiry })
  made.trim()
  await turns()
  assert.equal(asked.length, 1)
  parts.push(partOf('b'))
  made.goOn()
  asked[0]!.resolve(0)
  await finish()
  await made.idle()
  assert.deepEqual(merged, ['a+b'])
  await made.close()
})

test('a rest that begins again while it is looked for what has expired is used', async (t) => {
  const { expiry, asked } = slowExpiry()
  const plans = { plan: nothing, planIdle: two, planThorough: nothing }
  const { merging: made, parts, merged, finish } = merging(t, ['a', 'b'], plans, 0, { expiry })
  made.goOn()
  t.mock.timers.tick(IDLE_MS)
  await turns()
  made.trim()
  await finish()
  assert.equal(asked.length, 1)
  parts.push(partOf('c'))
  made.goOn()
  t.mock.timers.tick(IDLE_MS)
  asked[0]!.resolve(0)
  await finish()
  await made.idle()
  assert.deepEqual(merged, ['a+b', '(a+b)+c'])
  await made.close()
})

test('parts stay open where a flush comes while it is looked for what has expired, and for what was deleted', async (t) => {
  const open = new Set<string>()
  const tombstones = TombstoneList.of([{ tag: 1, from: 0, to: 1, sequence: 1 }])
  const store = {
    open(info: PartInfo) {
      open.add(info.name)
      return { info, tombstones, has: () => false, close: () => open.delete(info.name) }
    },
  } as unknown as PartStore
  const version = (number: number, names: readonly string[]) =>
    ({ number, parts: names.map(partOf) }) as unknown as Version
  const parts = new OpenParts(store, version(1, ['a', 'b']), () => {})
  const { expiry, asked } = slowExpiry()
  const plans = { plan: nothing, planIdle: nothing, planThorough: nothing }
  const { merging: made } = merging(t, [], plans, 0, { expiry, parts })
  made.goOn()
  made.trim()
  t.mock.timers.tick(IDLE_MS)
  await turns()
  assert.equal(asked.length, 1)
  parts.moveTo(version(2, ['a', 'b', 'c']))
  asked[0]!.resolve(0)
  await turns()
  asked[1]!.resolve(0)
  await turns()
  await made.idle()
  parts.moveTo(version(3, ['a', 'b', 'c', 'd']))
  assert.deepEqual([...open], ['a', 'b', 'c', 'd'])
  await made.close()
})
