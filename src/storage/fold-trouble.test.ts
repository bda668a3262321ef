import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { harmLeaf } from '../../test/durability/damage.ts'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import type { HistorianStore } from './historian-store.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const
const TAGS = 300
const STORED = 40
/** Points in an epoch. */
const EPOCH = 200

function ramp(count: number, from: number): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) columns.times[i] = from + i
  return columns
}

/** A historian with so many tags that their blocks take several pages, and what its log was told. */
async function openPlant(t: TestContext, folder = temporaryFolder(t)) {
  const told: string[] = []
  const log = {
    info: (_fields: object, message: string) => void told.push(`info: ${message}`),
    error: (_fields: object, message: string) => void told.push(`error: ${message}`),
  }
  const fold = { points: EPOCH, records: 1e9, ageMs: 1e9 }
  const store = await openHistorianStore(folder, { historian: 'plant', owner: true, fold, log })
  let isOpen = true
  const close = async () => {
    if (isOpen) await store.close()
    isOpen = false
  }
  t.after(close)
  return { folder, store, told, close }
}

const write = (store: HistorianStore, tags: readonly string[], points: PointColumns) =>
  store.write(
    writeBatch(
      tags.map((tag) => ({ tag, points })),
      true,
    ),
    signal,
  )

const countOf = async (store: HistorianStore, tag: string) =>
  (await store.readRanges([{ tag, ...EVER }], signal))[0]!.points.times.length

const names = Array.from({ length: TAGS }, (_, i) => `tag ${i}`)
/** What the newest page of summaries of the 150th tag stands under. */
const KEY = Buffer.from('00000096ffffffffffffffff', 'hex')

test('an error that folding meets fails no write, until too much waits; it goes on when the error is gone', async (t) => {
  const { folder, store, told } = await openPlant(t)
  await write(store, names, ramp(STORED, 0))
  await store.fold()
  const mend = harmLeaf(folder, KEY)

  // More than an epoch: it is folded beside the writes that follow.
  await write(store, names, ramp(1, 1_000))
  let written = 1
  while (store.trouble === null) await write(store, ['tag 0'], ramp(1, 1_000 + written++))
  for (let i = 0; i < 20; i++) await write(store, ['tag 0'], ramp(1, 1_000 + written++))
  assert.match(store.trouble, /cannot be moved from its journal into blocks: its data file is damaged/)
  await store.checkHealth(signal)

  await assert.rejects(
    async () => {
      for (;;) await write(store, ['tag 0'], ramp(1, 1_000 + written++))
    },
    (error) => {
      assert.equal((error as { code?: unknown }).code, 'WRITE_FAILED')
      assert.match(
        (error as Error).message,
        /points cannot be moved from its journal into blocks \(its data file is damaged\), and too many wait there/,
      )
      return true
    },
  )
  written--
  assert.ok(written > 2 * EPOCH && written < 4 * EPOCH, String(written))
  await assert.rejects(store.checkHealth(signal), /too many wait there/)
  assert.equal(await countOf(store, 'tag 0'), STORED + written)
  assert.deepEqual(told, ['error: points cannot be moved from the journal into blocks; it is tried again'])

  mend()
  while (store.trouble !== null) await wait(20)
  assert.equal(told.at(-1), 'info: points are moved from the journal into blocks again')
  await store.checkHealth(signal)
  await write(store, ['tag 0'], ramp(1, 1_000 + written++))
  await store.fold()
  const { points, problems, records } = await store.check(signal)
  assert.deepEqual([points, problems, records], [TAGS * (STORED + 1) + written - 1, [], 0])
})

test('what was acknowledged while folding failed is there after a start', async (t) => {
  const { folder, store, close } = await openPlant(t)
  await write(store, names, ramp(STORED, 0))
  await store.fold()
  const mend = harmLeaf(folder, KEY)
  await write(store, names, ramp(1, 1_000))
  let written = 1
  while (store.trouble === null) await write(store, ['tag 0'], ramp(1, 1_000 + written++))
  await assert.rejects(store.fold())
  await write(store, ['new'], ramp(3, 0))
  await store.deletePoints([{ tag: 'tag 1', from: 0, to: 10 }], false, signal)
  await close()
  mend()
  const again = await openPlant(t, folder)
  assert.equal(await countOf(again.store, 'tag 0'), STORED + written)
  assert.equal(await countOf(again.store, 'tag 1'), STORED + 1 - 10)
  assert.equal(await countOf(again.store, 'new'), 3)
  await again.store.fold()
  assert.deepEqual((await again.store.check(signal)).problems, [])
})
