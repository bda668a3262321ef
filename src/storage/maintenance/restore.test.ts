import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { openDataDirectory } from '../directory/data-directory.ts'
import type { FileStore } from '../engine/file-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { backupDataDirectory } from './backup.ts'
import { checkDataDirectory } from './check-data-directory.ts'
import { type RestoreOptions, restoreDataDirectory } from './restore.ts'

const { signal } = new AbortController()

async function write(store: FileStore, time: number, tag = 'A'): Promise<void> {
  const points = makeColumns(1)
  points.times[0] = time
  await store.write(writeBatch([{ tag, points }], true), signal)
}

/** As on another machine, where the file system carries no locks: nobody sees that the owner lives. */
const withoutLocks: Files = {
  ...systemFiles,
  exists: (path) => basename(path) !== 'owner.lock' && systemFiles.exists(path),
}

test('a group that a backup took and its owner gave up makes way for what was acknowledged in its place', async (t) => {
  const folder = temporaryFolder(t)
  const [data, archive] = ['data', 'archive'].map((name) => join(folder, name)) as [string, string]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  const files = new FailingFiles(systemFiles)
  const store = await openFileStore(directory.historianDirectory('local'), {
    historian: 'local',
    owner: true,
    files,
    archive: { folder: archive, everyMs: 3_600_000, keepBytes: 1 << 30 },
  })
  await directory.known.add({ name: 'local', folder: null, ...store.identity, lastSequence: null })
  const pointsIn = async (place: string) => {
    const found = await openFileStore(join(place, 'historians', 'local'), {
      historian: 'local',
      owner: false,
    })
    const tags = await found.findTags(['A', 'given up', 'B'], signal)
    const counts = await found.countPoints(
      tags.flatMap((tag) => (tag === null ? [] : [{ tag: tag.name, from: 0, to: 100 }])),
      100,
      signal,
    )
    await found.close()
    return [tags.map((tag) => tag?.name ?? null), counts]
  }
  await write(store, 1)
  // A segment is synced when it is made, and then with each group.
  const made = new Set(readdirSync(join(data, 'historians', 'local', 'wal')))
  files.plan = (call, path) => {
    if (call !== 'sync' || !path.endsWith('.wal')) return null
    const isFirst = !made.has(basename(path))
    made.add(basename(path))
    return isFirst ? null : { code: 'EIO' }
  }
  await assert.rejects(write(store, 2, 'given up'), { code: 'WRITE_OUTCOME_UNKNOWN' })
  files.plan = () => null
  const backup = async (name: string) => {
    const target = join(folder, name)
    const options = { mode: 'copy', since: null, elsewhere: [] } as const
    await backupDataDirectory(data, target, signal, options, withoutLocks)
    return target
  }
  const early = await backup('early')
  assert.deepEqual(await pointsIn(early), [
    ['A', 'given up', null],
    [1, 1],
  ])
  // It gets the number of the one that was given up, and its tag the same id.
  await write(store, 3, 'B')
  const late = await backup('late')
  assert.deepEqual(await pointsIn(late), [
    ['A', null, 'B'],
    [1, 1],
  ])
  await write(store, 4, 'B')
  await store.close()
  await directory.close()
  for (const from of [early, late]) {
    const target = `${from}-restored`
    await restoreDataDirectory(from, target, { to: null, only: null, archiveOf: () => archive }, signal)
    assert.deepEqual(await pointsIn(target), [
      ['A', null, 'B'],
      [1, 2],
    ])
  }
  // What else of the backup's log cannot be read is damage, whatever the archive has behind it.
  const wal = join(late, 'historians', 'local', 'wal')
  const [first] = readdirSync(wal)
  truncateSync(join(wal, first!), statSync(join(wal, first!)).size - 8)
  for (const from of [archive, null]) {
    const options = { to: null, only: null, archiveOf: () => from }
    const restored = restoreDataDirectory(late, join(folder, 'damaged'), options, signal)
    await assert.rejects(restored, { code: 'STORAGE_CORRUPT', message: /historian local is damaged/ })
  }
})

test('historians are restored one by one, and those elsewhere, too', async (t) => {
  const folder = temporaryFolder(t)
  const [data, far, archive, backup] = ['data', 'far', 'archive', 'backup'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  const open = (name: string, place: string) =>
    openFileStore(place, {
      historian: name,
      owner: true,
      archive: { folder: archive, everyMs: 3_600_000, keepBytes: 1 << 30 },
    })
  const stores = [await open('local', directory.historianDirectory('local')), await open('far', far)]
  await directory.known.add({ name: 'local', folder: null, ...stores[0]!.identity, lastSequence: null })
  await directory.known.add({ name: 'far', folder: far, ...stores[1]!.identity, lastSequence: null })
  // Each has a point in the backup, and another one behind it.
  for (const store of stores) await write(store, 1)
  await backupDataDirectory(data, backup, signal)
  for (const store of stores) {
    await write(store, 2)
    await store.close()
  }
  await directory.close()

  let made = 0
  const restored = async (options: Partial<RestoreOptions>) => {
    const target = join(folder, `restored-${++made}`)
    const all = { to: null, only: null, archiveOf: () => archive, ...options }
    const found = await restoreDataDirectory(backup, target, all, signal)
    const { isSound, historians } = await checkDataDirectory(target, signal)
    assert.ok(isSound)
    const points = Object.fromEntries(historians.map(({ historian, check }) => [historian, check?.points]))
    return { target, found, points }
  }
  const both = await restored({})
  assert.deepEqual(both.points, { local: 2, far: 2 })
  assert.deepEqual(
    both.found.map(({ name, folder: place, isInside }) => [name, place, isInside]),
    [
      ['local', join(both.target, 'historians', 'local'), true],
      ['far', join(both.target, 'elsewhere', 'far'), false],
    ],
  )
  assert.deepEqual((await restored({ only: ['far'] })).points, { local: 1, far: 2 })
  assert.deepEqual((await restored({ archiveOf: () => null })).points, { local: 1, far: 1 })
  const moment = { to: Date.now() * 1000 - 1, archiveOf: (name: string) => (name === 'far' ? archive : null) }
  await assert.rejects(restored(moment), {
    code: 'RESTORE_IMPOSSIBLE',
    message: /Historian local cannot be restored: no archive of it is configured/,
  })
})
