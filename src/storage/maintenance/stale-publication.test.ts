import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileStore } from '../engine/file-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { publicationName } from '../wal/publication.ts'
import { copyHistorian } from './copy-historian.ts'
import { repairHistorian } from './repair-historian.ts'

const { signal } = new AbortController()
const owner = { historian: 'plant', owner: true, limits: { reserveBytes: 0 } }
const batch = (tag: string) => writeBatch([{ tag, points: makeColumns(1) }], true)
const ALL = ['a', 'b', 'c']

const publicationOf = (folder: string, token: number) => join(folder, 'wal', publicationName(token))

const publications = (folder: string) =>
  readdirSync(join(folder, 'wal')).filter((name) => name.startsWith('published'))

const namesIn = async (store: FileStore) =>
  (await store.findTags(ALL, signal)).flatMap((tag) => (tag === null ? [] : [tag.name]))

/**
 * A historian after a power cut: what its owner published last did not reach the disk, as it is not synced, and the log
 * did. A part has one tag, the log the others, one of them behind what is published, in another segment.
 */
async function afterPowerCut(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  const before = await openFileStore(folder, owner)
  await before.write(batch('a'), signal)
  await before.flush()
  await before.write(batch('b'), signal)
  const published = publicationOf(folder, 1)
  copyFileSync(published, join(folder, 'before'))
  await before.write(batch('c'), signal)
  await before.close()
  copyFileSync(join(folder, 'before'), published)
  return folder
}

test('a copy that is made after a power cut, before the next start, has all that was acknowledged', async (t) => {
  const folder = await afterPowerCut(t)
  const to = join(folder, 'copy')
  await copyHistorian(systemFiles, folder, to, { mode: 'copy' }, signal)
  const copy = await openFileStore(to, owner)
  assert.deepEqual(await namesIn(copy), ALL)
  await copy.close()
})

test('a check after a power cut reads all that was acknowledged, and goes on with the next owner', async (t) => {
  const folder = await afterPowerCut(t)
  const reader = await openFileStore(folder, { ...owner, owner: false })
  assert.deepEqual(await namesIn(reader), ALL)
  assert.equal((await reader.check(signal)).points, 3)
  const next = await openFileStore(folder, owner)
  await next.write(batch('d'), signal)
  assert.equal((await reader.findTags(['d'], signal))[0]?.name, 'd')
  assert.deepEqual(await namesIn(reader), ALL)
  await reader.close()
  await next.close()
})

test('a repair after a power cut keeps all that was acknowledged in the log', async (t) => {
  const folder = await afterPowerCut(t)
  const [part] = readdirSync(join(folder, 'parts'))
  const bytes = readFileSync(join(folder, 'parts', part!))
  bytes[20]! ^= 1
  writeFileSync(join(folder, 'parts', part!), bytes)
  const report = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
  assert.deepEqual([report.isSound, report.aside], [false, [part]])
  const store = await openFileStore(folder, owner)
  assert.deepEqual(await namesIn(store), ALL)
  assert.deepEqual((await store.check(signal)).points, 2)
  await store.close()
})

test('beside an owner only what it published is read and copied, however much of the log is there', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openFileStore(folder, owner)
  await store.write(batch('a'), signal)
  const published = publicationOf(folder, 1)
  copyFileSync(published, join(folder, 'before'))
  // As if the group was not durable yet: nobody knows what becomes of it.
  await store.write(batch('b'), signal)
  copyFileSync(join(folder, 'before'), published)
  const reader = await openFileStore(folder, { ...owner, owner: false })
  assert.deepEqual(await namesIn(reader), ['a'])
  await reader.close()
  const to = join(folder, 'copy')
  await copyHistorian(systemFiles, folder, to, { mode: 'copy' }, signal)
  const copy = await openFileStore(to, owner)
  assert.deepEqual(await namesIn(copy), ['a'])
  await copy.close()
  await store.close()
})

test('of an owner that has published nothing yet no group is read', async (t) => {
  const folder = temporaryFolder(t)
  const first = await openFileStore(folder, owner)
  await first.write(batch('a'), signal)
  const beside = await openFileStore(folder, { ...owner, owner: false })
  assert.deepEqual(await namesIn(beside), ['a'])
  await first.close()
  let writes = 0
  // It makes the file, and no more.
  const files = new FailingFiles(systemFiles, (call, path) =>
    call === 'write' && path === publicationOf(folder, 2) && ++writes > 1 ? { code: 'EIO' } : null,
  )
  const second = await openFileStore(folder, { ...owner, files })
  await second.write(batch('b'), signal)
  const reader = await openFileStore(folder, { ...owner, owner: false })
  for (const one of [beside, reader]) assert.deepEqual(await namesIn(one), ['a'])
  files.plan = () => null
  // It publishes, and readers follow it from its first group on.
  await second.write(batch('c'), signal)
  for (const one of [beside, reader]) {
    assert.deepEqual(await namesIn(one), ALL)
    await one.close()
  }
  await second.close()
})

test('what an owner publishes that stood still until it was replaced keeps nothing of its successor from anybody', async (t) => {
  const folder = temporaryFolder(t)
  const first = await openFileStore(folder, owner)
  await first.write(batch('a'), signal)
  const reader = await openFileStore(folder, { ...owner, owner: false })
  assert.deepEqual(await namesIn(reader), ['a'])
  copyFileSync(publicationOf(folder, 1), join(folder, 'before'))
  await first.close()
  const second = await openFileStore(folder, owner)
  assert.ok(!existsSync(publicationOf(folder, 1)))
  await second.write(batch('b'), signal)
  assert.deepEqual(await namesIn(reader), ['a', 'b'])
  // As one does that stood still before it made the file.
  copyFileSync(join(folder, 'before'), publicationOf(folder, 1))
  assert.deepEqual(await namesIn(reader), ['a', 'b'])
  const other = await openFileStore(folder, { ...owner, owner: false })
  assert.deepEqual(await namesIn(other), ['a', 'b'])
  const to = join(folder, 'copy')
  await copyHistorian(systemFiles, folder, to, { mode: 'copy' }, signal)
  const copy = await openFileStore(to, owner)
  assert.deepEqual(await namesIn(copy), ['a', 'b'])
  await copy.close()
  await second.write(batch('c'), signal)
  for (const one of [reader, other]) {
    assert.deepEqual(await namesIn(one), ALL)
    await one.close()
  }
  await second.close()
  const third = await openFileStore(folder, owner)
  assert.deepEqual(publications(folder), [publicationName(3)])
  await third.close()
})

test('what could not be published is published without another change, on a full disk with what is set aside', async (t) => {
  for (const [code, reserveBytes] of [
    ['EIO', 0],
    ['ENOSPC', 1 << 20],
  ] as const) {
    const folder = temporaryFolder(t)
    const files = new FailingFiles(systemFiles)
    const reserve = join(folder, 'wal', 'reserve')
    mkdirSync(join(folder, 'wal'))
    if (reserveBytes > 0) writeFileSync(reserve, new Uint8Array(reserveBytes))
    const store = await openFileStore(folder, { ...owner, files, limits: { reserveBytes } })
    files.plan = (call, path) => {
      const isRefused = call === 'write' && basename(path) === publicationName(1)
      return isRefused && (code === 'EIO' || existsSync(reserve)) ? { code } : null
    }
    await store.write(batch('a'), signal)
    if (code === 'EIO') assert.match(store.trouble ?? '', /^changes cannot be published to other processes/)
    files.plan = () => null
    const reader = await openFileStore(folder, { ...owner, owner: false })
    const isThere = async () => (await namesIn(reader)).includes('a')
    if (code === 'ENOSPC') assert.ok(await isThere())
    await until(isThere, 'the reader has it')
    assert.equal(store.trouble, null)
    await reader.close()
    await store.close()
  }
})
