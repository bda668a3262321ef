import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import { Memtable } from '../memtable/memtable.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const TAGS = ['a', 'b', 'c']

const noMemory = () => {
  throw new RangeError('Array buffer allocation failed')
}

const open = (folder: string) =>
  openFileStore(folder, { historian: 'plant', owner: true, limits: { reserveBytes: 0 } })

const write = (store: FileStore, tag: string, value: number) => {
  const points = makeColumns(1)
  points.values[0] = value
  return store.write(writeBatch([{ tag, points }], true), signal)
}

/** The value of each tag, `null` for one that does not exist, `undefined` for one without a point. */
async function valuesOf(store: FileStore): Promise<readonly (number | null | undefined)[]> {
  const found = await store.findTags(TAGS, signal)
  const queries = TAGS.map((tag) => ({ tag, from: -1, to: 1, order: 'asc' as const, limit: 9 }))
  const read = await store.readRanges(queries, signal)
  return found.map((tag, i) => (tag === null ? null : read[i]!.points.values[0]))
}

for (const [what, prototype, method] of [
  ['points', Memtable.prototype, 'applyAll'],
  ['tags', MemoryCatalog.prototype, 'apply'],
] as const) {
  test(`where ${what} that are on disk cannot be taken into memory nothing is changed any more, and the next start has them`, async (t) => {
    const folder = temporaryFolder(t)
    let store = await open(folder)
    t.after(() => store.close())
    await write(store, 'a', 1)
    t.mock.method(prototype as never, method as never, noMemory as never, { times: 1 })
    await assert.rejects(write(store, 'b', 2), { code: 'WRITE_OUTCOME_UNKNOWN' })
    // The id of the tag before is in the log.
    await assert.rejects(write(store, 'c', 3), {
      code: 'STORAGE_CORRUPT',
      message: /start the service again/,
    })
    await assert.rejects(store.deleteTags(['a'], false, signal), { code: 'STORAGE_CORRUPT' })
    await store.flush()
    assert.equal((await valuesOf(store))[0], 1)
    assert.match(store.leftOut ?? '', /could not be taken into memory/)
    await assert.rejects(store.checkHealth(signal), { code: 'STORAGE_CORRUPT' })
    await store.close()
    store = await open(folder)
    assert.deepEqual(await valuesOf(store), [1, 2, null])
    await write(store, 'c', 3)
    assert.deepEqual(await valuesOf(store), [1, 2, 3])
  })
}

test('a large write that is on disk is acknowledged where there is no memory for a smaller buffer of the log', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  t.after(() => store.close())
  await write(store, 'a', 0)
  const large = makeColumns(1_100_000)
  for (let i = 0; i < large.times.length; i++) large.times[i] = (i * i) % 1_000_003
  const Memory = SharedArrayBuffer
  globalThis.SharedArrayBuffer = class extends Memory {
    constructor(bytes?: number) {
      if (bytes === 1 << 20) noMemory()
      super(bytes)
    }
  }
  t.after(() => {
    globalThis.SharedArrayBuffer = Memory
  })
  await store.write(writeBatch([{ tag: 'b', points: large }], true), signal)
  await write(store, 'c', 3)
  assert.deepEqual((await valuesOf(store))[2], 3)
})
