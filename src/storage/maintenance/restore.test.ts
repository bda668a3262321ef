import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { openDataDirectory } from '../directory/data-directory.ts'
import type { FileStore } from '../engine/file-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { backupDataDirectory } from './backup.ts'
import { checkDataDirectory } from './check-data-directory.ts'
import { type RestoreOptions, restoreDataDirectory } from './restore.ts'

const { signal } = new AbortController()

async function write(store: FileStore, time: number): Promise<void> {
  const points = makeColumns(1)
  points.times[0] = time
  await store.write(writeBatch([{ tag: 'A', points }], true), signal)
}

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
  await directory.known.add({ name: 'local', folder: null, ...stores[0]!.identity })
  await directory.known.add({ name: 'far', folder: far, ...stores[1]!.identity })
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
