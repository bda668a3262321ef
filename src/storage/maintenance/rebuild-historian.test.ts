import assert from 'node:assert/strict'
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { open, signal } from '../../../test/durability/workload.ts'
import type { FileStore } from '../engine/file-store.ts'
import { HISTORIAN_IS_RIGHT } from '../engine/was-there.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { repairHistorian } from './repair-historian.ts'
import {
  assertTakesWrites,
  contentOf,
  harmRecord,
  live,
  repair,
  segmentsIn,
  write,
} from './repaired-log.fixture.ts'

const removeManifest = (folder: string) => rmSync(join(folder, 'manifest'), { recursive: true })
const removeCatalog = (folder: string) => rmSync(join(folder, 'catalog'), { recursive: true })

/** Lives through changes, whose flush has the part on disk and cannot write the catalog; the manifest is gone then. */
async function liveUntilCatalogFails(folder: string, changes: (store: FileStore) => Promise<unknown>) {
  const files = new FailingFiles(systemFiles)
  const store = await open(files, folder)
  await changes(store)
  files.plan = (_call, path) => (path.includes('/catalog/') ? { code: 'EIO' } : null)
  await assert.rejects(store.flush(), { code: 'WRITE_FAILED' })
  await store.close()
  assert.ok(segmentsIn(folder).length > 0)
  removeManifest(folder)
}

test('without a manifest tags are those of the log also where a flush was cut off between its part and the catalog', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'c']) await write(store, tag, 1)
    await store.flush()
  })
  await liveUntilCatalogFails(folder, async (store) => {
    await store.deleteTags(['a'], false, signal)
    await store.renameTags([{ from: 'b', to: 'd' }], false, signal)
    await write(store, 'a', 2)
    await write(store, 'new', 3)
  })
  const { lost } = await repair(folder)
  assert.deepEqual(lost, [])
  assert.deepEqual(await contentOf(folder), { a: [2], c: [1], d: [1], new: [3] })
  await assertTakesWrites(folder)
})

test('the same of the first flush, where no catalog is there at all', async (t) => {
  const folder = temporaryFolder(t)
  await liveUntilCatalogFails(folder, (store) => write(store, 'a', 1))
  assert.deepEqual(readdirSync(join(folder, 'catalog')), [])
  assert.deepEqual((await repair(folder)).lost, [])
  assert.deepEqual(await contentOf(folder), { a: [1] })
})

/** A historian of two owners: one part, two records of the first owner and two of the second that need them. */
async function twoOwners(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['p', 'q']) await write(store, tag, 1)
    await store.flush()
    for (const tag of ['a', 'b']) await write(store, tag, 2)
  })
  await live(folder, async (store) => {
    for (const tag of ['a', 'p', 'c']) await write(store, tag, 3)
  })
  return folder
}

test('without a manifest records that are missing between parts and log are told, and their tags get names', async (t) => {
  const folder = await twoOwners(t)
  rmSync(segmentsIn(folder)[0]!)
  removeManifest(folder)
  const { lost, isLogAnew } = await repair(folder)
  assert.equal(isLogAnew, true)
  assert.deepEqual(lost, [
    'what records 3 to 4 of the log said of points and tags, if anything',
    'the name of a tag that has points: it is recovered-3 now',
  ])
  assert.deepEqual(await contentOf(folder), { c: [3], p: [1, 3], q: [1], 'recovered-3': [3] })
  await assertTakesWrites(folder)
})

test('without a manifest records that are missing before the log are told also where there is neither part nor catalog', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, (store) => write(store, 'a', 1))
  await live(folder, async (store) => {
    for (const tag of ['a', 'b']) await write(store, tag, 2)
  })
  rmSync(segmentsIn(folder)[0]!)
  removeManifest(folder)
  assert.deepEqual((await repair(folder)).lost, [
    'what records 1 to 1 of the log said of points and tags, if anything',
    'the name of a tag that has points: it is recovered-1 now',
  ])
  assert.deepEqual(await contentOf(folder), { b: [2], 'recovered-1': [2] })
  await assertTakesWrites(folder)
})

test('where the catalog is lost that is told, and tags with points in the log get names, with and without a manifest', async (t) => {
  for (const harm of [
    [removeManifest, removeCatalog],
    [
      removeManifest,
      (folder: string) => {
        for (const name of readdirSync(join(folder, 'catalog')))
          truncateSync(join(folder, 'catalog', name), 3)
      },
    ],
    [removeCatalog],
  ]) {
    const folder = await twoOwners(t)
    for (const one of harm) one(folder)
    const { lost } = await repair(folder)
    const isRebuilt = harm.length > 1
    assert.equal(
      lost.filter((what) => what.startsWith('the names of tags that parts')).length,
      isRebuilt ? 1 : 0,
    )
    assert.ok(lost.includes('the name of a tag that has points: it is recovered-1 now'), lost.join('\n'))
    // Of q there are points in the part alone, of which there is no name.
    assert.deepEqual(await contentOf(folder), { a: [2, 3], b: [2], c: [3], 'recovered-1': [1, 3] })
    await assertTakesWrites(folder)
  }
})

test('a damaged log of an earlier state is not written anew, unless that state is meant', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(systemFiles, folder)
  for (const tag of ['a', 'b', 'c']) await write(store, tag)
  const { id, token } = store.identity
  await store.close()
  harmRecord(segmentsIn(folder)[0]!, 1)
  const repairSince = (lastSequence: number) =>
    repairHistorian(systemFiles, folder, { historian: 'plant', before: { id, token, lastSequence } }, signal)
  await assert.rejects(repairSince(5), { code: 'DATA_DIR_UNUSABLE', message: /it holds an earlier state/ })
  await assert.rejects(repairSince(5), { code: 'DATA_DIR_UNUSABLE' })
  writeFileSync(join(folder, HISTORIAN_IS_RIGHT), '')
  assert.match((await repairSince(5)).lost[0]!, /^record 2 of the log/)
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'c'])
})

test('without a manifest records are told that are missing at the end by what is known of before', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(systemFiles, folder)
  for (const tag of ['a', 'b', 'c']) await write(store, tag)
  const { id, token } = store.identity
  await store.close()
  removeManifest(folder)
  const before = { id, token, lastSequence: 5 }
  const { lost } = await repairHistorian(systemFiles, folder, { historian: 'plant', before }, signal)
  assert.deepEqual(lost, ['what records 4 to 5 of the log said of points and tags, if anything'])
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'b', 'c'])
})
