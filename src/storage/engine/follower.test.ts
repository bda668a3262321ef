import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { openFiles } from '../files/open-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const EVER = { from: 0, to: 1e15, order: 'asc', limit: 1e6 } as const
/** Files go by what readers say, not by their age. */
const limits = { reserveBytes: 0, unlinkSoonestMs: 0, unlinkAfterMs: 1e9 }
const open = (folder: string, owner: boolean, movedOn?: (version: number) => void) =>
  openFileStore(folder, { historian: 'plant', owner, limits, ...(movedOn && { movedOn }) })

async function write(store: FileStore, time: number): Promise<void> {
  const points = makeColumns(1)
  points.times[0] = time
  await store.write(writeBatch([{ tag: 'a', points }], true), signal)
}

async function timesOf(store: FileStore): Promise<number[]> {
  const [read] = await store.readRanges([{ tag: 'a', ...EVER }], signal)
  return [...read!.points.times]
}

const segmentsOf = (folder: string) =>
  readdirSync(join(folder, 'wal')).filter((name) => name.endsWith('.wal'))

test('dropped files go when all readers have moved on, also those that nobody reads from', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await open(folder, true)
  const versions: number[] = []
  await write(owner, 1)
  // One that starts, and one that reads.
  owner.readerAt(7, 0)
  const reader = await open(folder, false, (version) => {
    versions.push(version)
    owner.readerAt(8, version)
  })
  assert.equal(versions.length, 1)
  const [flushed] = segmentsOf(folder)
  await owner.flush()
  await until(() => versions.length > 1, 'the reader has moved on without a read')
  await wait(50)
  assert.ok(segmentsOf(folder).includes(flushed!), 'the one that starts may need it')
  owner.readerAt(7, null)
  await until(() => !segmentsOf(folder).includes(flushed!), 'nobody needs it any more')
  assert.deepEqual(await timesOf(reader), [1])
  await reader.close()
  await owner.close()
})

test('a segment of the log that was flushed is closed by the owner and by who reads beside it', async (t) => {
  const folder = temporaryFolder(t)
  const written = openFiles()
  const read = openFiles()
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits, files: written.files })
  await write(owner, 1)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits, files: read.files })
  const openSegments = () =>
    [written, read].map(({ paths }) => paths.filter((one) => /wal$/.test(one)).length)
  for (let time = 2; time < 5; time++) {
    await write(owner, time)
    assert.equal((await timesOf(reader)).length, time)
    assert.deepEqual(openSegments(), [1, 1])
    await owner.flush()
    assert.equal((await timesOf(reader)).length, time)
    await until(() => openSegments().every((count) => count === 0), 'they are closed')
  }
  await reader.close()
  await owner.close()
  assert.deepEqual([...written.paths, ...read.paths], [])
})

test('dropped files go at the latest moment where a known reader stands still, which then begins anew', async (t) => {
  const folder = temporaryFolder(t)
  const unlinkAfterMs = 400
  const owner = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    limits: { ...limits, unlinkAfterMs },
  })
  await write(owner, 1)
  const reader = await open(folder, false)
  // What it said last; that it reads on is not seen by the owner.
  owner.readerAt(7, 0)
  const [flushed] = segmentsOf(folder)
  const before = performance.now()
  await owner.flush()
  await until(() => !segmentsOf(folder).includes(flushed!), 'it is not waited for any longer')
  assert.ok(performance.now() - before >= unlinkAfterMs, 'it is waited for')
  await write(owner, 2)
  assert.deepEqual(await timesOf(reader), [1, 2])
  await reader.close()
  await owner.close()
})

test('without other readers dropped files go at once', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await open(folder, true)
  await write(owner, 1)
  const [flushed] = segmentsOf(folder)
  await owner.flush()
  await until(() => !segmentsOf(folder).includes(flushed!), 'it is removed')
  assert.deepEqual(await timesOf(owner), [1])
  await owner.close()
})

test('a reader for which files are gone reads all of it anew, and gives each point once', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await open(folder, true)
  await write(owner, 1)
  const reader = await open(folder, false)
  for (let time = 2; time < 6; time++) {
    await write(owner, time)
    await owner.flush()
    await until(() => segmentsOf(folder).length === 0, 'the segments are gone')
  }
  assert.deepEqual(await timesOf(reader), [1, 2, 3, 4, 5])
  await reader.close()
  await owner.close()
})

test('a reader for which a network file system forgets files (ESTALE) reads all of it anew', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await open(folder, true)
  await write(owner, 1)
  const files = new FailingFiles(systemFiles)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits, files })
  assert.deepEqual(await timesOf(reader), [1])
  for (let time = 2, expected = [1]; time < 6; time++) {
    await write(owner, time)
    if (time % 2 === 0) await owner.flush()
    expected = [...expected, time]
    let isForgotten = false
    files.plan = (call, path) => {
      if (isForgotten || call !== 'read' || !/wal$|manifest-[^/]*$/.test(path)) return null
      isForgotten = true
      return { code: 'ESTALE' }
    }
    assert.deepEqual(await timesOf(reader), expected)
    assert.ok(isForgotten)
  }
  files.plan = () => null
  await reader.close()
  await owner.close()
})

test('what is left of a segment of the log that could not be begun is passed over', async (t) => {
  for (const short of [false, true]) {
    const folder = temporaryFolder(t)
    const files = new FailingFiles(systemFiles)
    const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits, files })
    t.after(() => owner.close())
    await write(owner, 1)
    const reader = await open(folder, false)
    t.after(() => reader.close())
    assert.deepEqual(await timesOf(reader), [1])
    // The next change begins a segment: of its header nothing is written, or one half, and the file stays.
    await owner.flush()
    files.plan = (call, path) =>
      path.endsWith('.wal') && (call === 'write' || call === 'remove') ? { code: 'EIO', short } : null
    await assert.rejects(write(owner, 2), { code: 'WRITE_FAILED' })
    files.plan = () => null
    await write(owner, 3)
    assert.deepEqual(await timesOf(reader), [1, 3])
    await owner.flush()
    await write(owner, 4)
    assert.deepEqual(await timesOf(reader), [1, 3, 4])
  }
})

test('a segment of the log that could not be begun, and is gone, has nothing read anew; one with groups has', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits, files })
  t.after(() => owner.close())
  await write(owner, 1)
  const read = new FailingFiles(systemFiles)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits, files: read })
  t.after(() => reader.close())
  /** How often all of the historian is read. */
  let loads = 0
  read.plan = (call, path) => {
    if (call === 'list' && path.endsWith('manifest')) loads++
    return null
  }
  const fail = async (failed: 'write' | 'sync', time: number) => {
    files.plan = (call, path) => (path.endsWith('.wal') && call === failed ? { code: 'EIO' } : null)
    await assert.rejects(write(owner, time))
    files.plan = () => null
  }
  // What is begun behind a group that failed.
  await fail('sync', 2)
  for (let i = 0; i < 2; i++) await fail('write', 2)
  await write(owner, 3)
  assert.equal(segmentsOf(folder).length, 2)
  assert.deepEqual(await timesOf(reader), [1, 3])
  assert.equal(loads, 0)
  // Behind a generation that is flushed.
  await owner.flush()
  await fail('write', 4)
  await write(owner, 5)
  assert.deepEqual(await timesOf(reader), [1, 3, 5])
  assert.equal(loads, 0)

  await owner.flush()
  await write(owner, 6)
  await owner.flush()
  await write(owner, 7)
  await until(() => segmentsOf(folder).length === 1, 'the one with a group is gone')
  assert.deepEqual(await timesOf(reader), [1, 3, 5, 6, 7])
  assert.ok(loads > 0)
})

test('while nothing can be published no file goes that is read by what was published last', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const owner = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files,
    limits: {
      ...limits,
      unlinkAfterMs: 20,
      merge: { partitionBytes: 1e9, fanIn: 2, largestBytes: 1e9 },
      flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
      idleMergeAfterMs: 1e9,
    },
  })
  t.after(() => owner.close())
  const partsOf = () => readdirSync(join(folder, 'parts'))
  await write(owner, 1)
  await owner.flush()
  await write(owner, 2)
  await until(() => segmentsOf(folder).length === 1, 'the one that was flushed is gone')
  const [part] = partsOf()
  const [segment] = segmentsOf(folder)
  files.plan = (call, path) => (call === 'write' && path.includes('published-') ? { code: 'EIO' } : null)
  await write(owner, 3)
  await owner.flush()
  await until(() => partsOf().length > 2, 'parts are merged')
  await wait(100)
  assert.ok(partsOf().includes(part!))
  assert.ok(segmentsOf(folder).includes(segment!))
  assert.match(owner.trouble!, /^changes cannot be published/)
  const reader = await open(folder, false)
  t.after(() => reader.close())
  assert.deepEqual(await timesOf(reader), [1, 2])
  assert.equal(reader.trouble, null)

  files.plan = () => null
  await write(owner, 4)
  assert.deepEqual(await timesOf(reader), [1, 2, 3, 4])
  await until(() => partsOf().length === 1 && !segmentsOf(folder).includes(segment!), 'they go')
  assert.deepEqual(await timesOf(reader), [1, 2, 3, 4])
})

test('where what cannot be published has no room files go all the same, a while later', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const owner = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files,
    limits: { ...limits, unlinkAfterMs: 20 },
  })
  t.after(() => owner.close())
  await write(owner, 1)
  owner.readerAt(7, 0)
  const [segment] = segmentsOf(folder)
  files.plan = (call, path) => (call === 'write' && path.includes('published-') ? { code: 'ENOSPC' } : null)
  await owner.flush()
  await until(() => !segmentsOf(folder).includes(segment!), 'it goes')
})

test('a reader that has seen an edit which then failed, of an owner that had published nothing, begins anew', async (t) => {
  const folder = temporaryFolder(t)
  const first = await open(folder, true)
  await write(first, 1)
  await first.close()
  const files = new FailingFiles(systemFiles)
  const isPublishing = (path: string, bytes: number) => path.includes('published-') && bytes === 48
  files.plan = (call, path, _number, from, to) =>
    call === 'write' && isPublishing(path, to - from) ? { code: 'EIO' } : null
  const owner = await openFileStore(folder, { historian: 'plant', owner: true, limits, files })
  t.after(() => owner.close())
  await write(owner, 2)
  let reading: Promise<FileStore> | null = null
  files.plan = (call, path, _number, from, to) => {
    if (call === 'write' && isPublishing(path, to - from)) return { code: 'EIO' }
    if (call !== 'sync' || !path.includes('manifest-')) return null
    reading ??= open(folder, false)
    return { code: 'EIO' }
  }
  await assert.rejects(owner.flush())
  const reader = await reading!
  t.after(() => reader.close())
  files.plan = () => null
  await write(owner, 3)
  assert.deepEqual(await timesOf(reader), [1, 2, 3])
  await owner.flush()
  assert.deepEqual(await timesOf(reader), [1, 2, 3])
})

test('where the manifest of the last owner is lost reads are refused, and do not look for it for ever', async (t) => {
  const folder = temporaryFolder(t)
  const manifest = join(folder, 'manifest')
  const first = await open(folder, true)
  await write(first, 1)
  const kept = readdirSync(manifest).at(-1)!
  copyFileSync(join(manifest, kept), join(folder, 'kept'))
  const files = new FailingFiles(systemFiles)
  const reader = await openFileStore(folder, { historian: 'plant', owner: false, limits, files })
  await first.close()
  const second = await open(folder, true)
  await write(second, 2)
  await second.close()
  for (const name of readdirSync(manifest)) rmSync(join(manifest, name))
  copyFileSync(join(folder, 'kept'), join(manifest, kept))

  const before = files.calls
  await assert.rejects(timesOf(reader), {
    code: 'STORAGE_CORRUPT',
    message: /the newest manifest is missing/,
  })
  assert.ok(files.calls - before < 1_000, `${files.calls - before} calls`)
  await reader.close()
  await assert.rejects(open(folder, false), {
    code: 'STORAGE_CORRUPT',
    message: /the newest manifest is missing/,
  })
})
