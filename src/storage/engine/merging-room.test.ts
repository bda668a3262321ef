import assert from 'node:assert/strict'
import test from 'node:test'
import { ThreadEnded } from '../background-thread.ts'
import type { PartInfo } from '../parts/part.ts'
import { TombstoneList } from '../parts/tombstone-list.ts'
import { IDLE_MS, merging, nothing, partOf, RECLAIM_MS, turns } from './merging.fixture.ts'
import type { MergingParts } from './merging.ts'
import { PartsAside } from './parts-aside.ts'

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
function partsOf(names: string[], covered: ReadonlySet<string>) {
  const tombstones = TombstoneList.of([{ tag: 1, from: 0, to: 1, sequence: 1 }])
  const block = {
    blocks: 1,
    blockBefore: () => 0,
    blockFirst: () => 0,
    blockLast: () => 0,
    blockCount: () => 1,
  }
  const made = (name: string) => ({ ...partOf(name), firstTime: 0, lastTime: 0, lastSequence: 0 })
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
