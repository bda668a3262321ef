import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep, TestClock } from '../../../test/property/retention-model.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { RetentionRule } from '../retention/rules.ts'
import { SEGMENT_HEADER_BYTES } from '../wal/segment.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const SECOND = 1_000_000
const START = 1_700_000_000 * SECOND
const { signal } = new AbortController()

/** A historian whose rules are exchanged from now on, and of which so many groups reach the log. */
async function unsettled(t: TestContext, groups: number): Promise<FileStore> {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const clock = new TestClock(START)
  const limits = { reserveBytes: 0, retentionEveryMs: 1e9, idleMergeAfterMs: 1e9 }
  const open = (rules: readonly RetentionRule[]) =>
    openFileStore(folder, {
      historian: 'plant',
      owner: true,
      files,
      limits,
      retention: { rules, time: clock },
    })
  const before = await open([keep('*', 60)])
  await before.retain()
  await write(before, [0])
  await before.close()
  const store = await open([keep('a', 600)])
  t.after(() => store.close())
  let left = groups
  files.plan = (call, path, _number, from) =>
    call === 'write' && path.endsWith('.wal') && from >= SEGMENT_HEADER_BYTES && left-- <= 0
      ? { code: 'ENOSPC' }
      : null
  return store
}

/** Writes points at seconds from the start. */
function write(store: FileStore, seconds: readonly number[]) {
  const points = makeColumns(seconds.length)
  points.times.set(seconds.map((second) => START + second * SECOND))
  return store.write(writeBatch([{ tag: 'a', points }], true), signal)
}

async function read(store: FileStore): Promise<readonly number[]> {
  const [found] = await store.readRanges([{ tag: 'a', from: 0, to: 1e16, order: 'asc', limit: 10 }], signal)
  return Array.from(found!.points.times, (time) => (time - START) / SECOND)
}

test('a write with points that are too old by the rules of before is stored once, as one group', async (t) => {
  const store = await unsettled(t, 1)
  assert.equal(await write(store, [-100, 1]), null)
  assert.deepEqual(await read(store), [-100, 0, 1])
})

test('a write that fails while rules are exchanged has stored nothing', async (t) => {
  const store = await unsettled(t, 0)
  await assert.rejects(write(store, [-100, 1]), { code: 'WRITE_FAILED' })
  assert.deepEqual(await read(store), [0])
})

test('points that are too old by the new rules as well are left out, and the others stored', async (t) => {
  const store = await unsettled(t, 1)
  assert.equal((await write(store, [-700, -100, 1]))?.count, 1)
  assert.deepEqual(await read(store), [-100, 0, 1])
})
