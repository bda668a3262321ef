import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { ThreadEnded } from '../background-thread.ts'
import type { Version } from '../manifest/version.ts'
import { MERGE_LIMITS, type MergeResult, type PlanMerge } from '../merge/merge.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { TombstoneList } from '../parts/tombstone-list.ts'
import { Merging, type MergingParts } from './merging.ts'
import { OpenParts } from './part-set.ts'
import { PartsAside } from './parts-aside.ts'

const IDLE_MS = 20_000

/** Parts of a version, and what is known of merging besides. */
interface Bench {
  readonly merging: Merging
  readonly parts: PartInfo[]
  /** What was merged, by its names; in order. */
  readonly merged: string[]
  /** Ends the merge under way. */
  finish(): Promise<void>
}

function merging(
  t: TestContext,
  names: readonly string[],
  plans: Pick<MergingParts, 'plan' | 'planIdle' | 'planThorough'>,
  thoroughEveryMs: number,
  others: Partial<MergingParts> = {},
): Bench {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const parts = names.map(partOf)
  const merged: string[] = []
  let under: PromiseWithResolvers<MergeResult> | null = null
  const set = () => ({
    version: { parts: parts.slice() },
    parts: parts.map((info) => ({ info, part: {}, damage: null })),
    tombstonesWithout: () => [],
  })
  const made = new Merging({
    ...plans,
    parts: {
      get current() {
        return set()
      },
      hold() {},
      release() {},
    },
    reserve: { isSpent: false },
    versions: {
      checkOwner() {},
      edit: async ({ add, remove }: { add: readonly PartInfo[]; remove: readonly string[] }) => {
        const kept = parts.filter(({ name }) => !remove.includes(name))
        parts.splice(0, parts.length, ...kept, ...add)
      },
    },
    merger: {
      merge: ({ inputs }: { inputs: readonly PartInfo[] }) => {
        merged.push(inputs.map(({ name }) => name).join('+'))
        under = Promise.withResolvers()
        return under.promise
      },
      close: async () => {},
    },
    idleAfterMs: IDLE_MS,
    thoroughEveryMs,
    limits: MERGE_LIMITS,
    expiry: { keep() {}, isDue: () => false, ofParts: async () => null },
    trouble: { over() {} },
    aside: new PartsAside('plant', 1, null),
    folder: '',
    namePrefix: '',
    takeNumbers: () => 1,
    ...others,
  } as unknown as MergingParts)
  return {
    merging: made,
    parts,
    merged,
    async finish() {
      await turns()
      under!.resolve({ added: [partOf(`(${merged.at(-1)})`)] })
      await turns()
    },
  }
}

const partOf = (name: string) => ({ name, points: 1, bytes: 1 }) as PartInfo

/** What does not wait for a merge or a timer is done then. */
const turns = () => new Promise((resolve) => setImmediate(resolve))

const nothing: PlanMerge = () => null
/** Takes the first two parts. */
const two: PlanMerge = (parts) => (parts.length < 2 ? null : { inputs: parts.slice(0, 2) })

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
