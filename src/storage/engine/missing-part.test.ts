import assert from 'node:assert/strict'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { repairHistorian } from '../maintenance/repair-historian.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

/** Each flush makes a part, and no merge comes but with another `fanIn`. */
const limits = (fanIn: number) => ({
  flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
  merge: { partitionBytes: 1e9, fanIn, largestBytes: 1e9 },
  idleMergeAfterMs: 1e9,
  unlinkSoonestMs: 0,
  reserveBytes: 0,
})

const open = (folder: string, owner: boolean, { fanIn = 100, files = systemFiles as Files } = {}) =>
  openFileStore(folder, {
    historian: 'plant',
    owner,
    limits: limits(fanIn),
    ...(files === systemFiles ? {} : { files }),
  })

/** Writes 1,000 points of a tag, and flushes them. */
async function put(store: FileStore, tag: string, from: number): Promise<void> {
  const points = makeColumns(1_000)
  for (let i = 0; i < 1_000; i++) points.times[i] = from + i
  await store.write(writeBatch([{ tag, points }], true), signal)
  await store.flush()
}

const count = async (store: FileStore, tag: string, from: number, to: number) =>
  (await store.countPoints([{ tag, from, to }], 1e9, signal))[0]

const read = (store: FileStore, tag: string, from: number, to: number) =>
  store.readRanges([{ tag, from, to, order: 'asc', limit: 1e4 }], signal)

const partsOf = (folder: string) => readdirSync(join(folder, 'parts')).sort()

/**
 * Parts with points of `old` at 0, of `new` at 1e6 with the removal of half of `old`, and of `old` at 2e6; the one in
 * the middle is moved away.
 */
async function withoutSecond(t: TestContext) {
  const folder = temporaryFolder(t)
  const store = await open(folder, true)
  await put(store, 'old', 0)
  await store.deletePoints([{ tag: 'old', from: 0, to: 500 }], false, signal)
  await put(store, 'new', 1e6)
  await put(store, 'old', 2e6)
  await store.close()
  const name = partsOf(folder)[1]!
  const [place, away] = [join(folder, 'parts', name), join(folder, name)]
  renameSync(place, away)
  return { folder, name, putBack: () => renameSync(away, place) }
}

test('a part whose file is missing costs what it may have alone, for an owner and who reads beside it, and counts again when it is put back', async (t) => {
  const { folder, name, putBack } = await withoutSecond(t)
  const owner = await open(folder, true, { fanIn: 2 })
  const reader = await open(folder, false)
  for (const store of [owner, reader]) {
    assert.equal(store.trouble, `part ${name} is damaged: the file of the part is missing`)
    assert.equal(await count(store, 'old', 2e6, 3e6), 1_000)
    // It had removals: of what is older nobody knows what they took away.
    for (const from of [0, 1e6]) {
      await assert.rejects(read(store, 'old', from, from + 1_000), {
        code: 'STORAGE_CORRUPT',
        message: /the file of the part is missing/,
      })
    }
    const { problems } = await store.check(signal)
    assert.equal(problems[0], `part ${name}: the file of the part is missing`)
  }
  await reader.close()
  await put(owner, 'old', 3e6)
  await until(() => partsOf(folder).length === 2, 'what is newer than it is merged')
  assert.equal(await count(owner, 'old', 2e6, 4e6), 2_000)
  await owner.close()

  putBack()
  const again = await open(folder, true)
  t.after(() => again.close())
  assert.equal(again.trouble, null)
  assert.deepEqual([await count(again, 'old', 0, 4e6), await count(again, 'new', 0, 4e6)], [2_500, 1_000])
  assert.deepEqual((await again.check(signal)).problems, [])
})

test('a reader that finds no file of a part looks for a newer version before it takes it for missing', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await open(folder, true)
  await put(owner, 'a', 0)
  let left = 5
  const files = new FailingFiles(systemFiles, (call, path) =>
    call === 'open' && path.endsWith('.part') && left-- > 0 ? { code: 'ENOENT' } : null,
  )
  const reader = await open(folder, false, { files })
  assert.equal(reader.trouble, null)
  left = 5
  await put(owner, 'a', 1e6)
  assert.equal(await count(reader, 'a', 0, 2e6), 2_000)
  assert.equal(reader.trouble, null)
  await reader.close()
  await owner.close()
})

test('a reader of a historian with a missing part reads the rest of it once', async (t) => {
  const { folder, name } = await withoutSecond(t)
  const owner = await open(folder, true)
  t.after(() => owner.close())
  let loads = 0
  let looks = 0
  const files = new FailingFiles(systemFiles, (call, path) => {
    if (call === 'open' && path.endsWith('.tags')) loads++
    if (call === 'open' && path.endsWith(name)) looks++
    return null
  })
  const reader = await open(folder, false, { files })
  t.after(() => reader.close())
  assert.match(reader.trouble!, /the file of the part is missing/)
  assert.equal(loads, 1)
  assert.ok(looks > 5 && looks < 12, `${looks} looks`)
})

test('a part that goes missing before a reader has opened it costs that reader nothing of the others', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await open(folder, true)
  await put(owner, 'a', 0)
  const reader = await open(folder, false)
  await put(owner, 'a', 1e6)
  rmSync(join(folder, 'parts', partsOf(folder)[1]!))
  assert.equal(await count(reader, 'a', 0, 1_000), 1_000)
  assert.match(reader.trouble!, /the file of the part is missing/)
  await put(owner, 'a', 2e6)
  assert.equal(await count(reader, 'a', 2e6, 3e6), 1_000)
  await assert.rejects(read(reader, 'a', 0, 3e6), { code: 'STORAGE_CORRUPT' })
  // The owner has its file open.
  assert.equal(await count(owner, 'a', 0, 3e6), 3_000)
  await reader.close()
  await owner.close()
})

test('where the folder of the parts is missing, as when it is not mounted, nothing is begun without them', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder, true)
  await put(store, 'a', 0)
  await store.close()
  const [parts, away] = ['parts', 'elsewhere'].map((name) => join(folder, name)) as [string, string]
  renameSync(parts, away)
  const refusal = { code: 'DATA_DIR_UNUSABLE', message: /its folder "parts" is missing/ }
  for (let i = 0; i < 2; i++) {
    await assert.rejects(open(folder, true), refusal)
    await assert.rejects(repairHistorian(systemFiles, folder, { historian: 'plant' }, signal), refusal)
  }
  renameSync(away, parts)
  const again = await open(folder, true)
  assert.equal(await count(again, 'a', 0, 1e6), 1_000)
  await again.close()
})
