import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { historianDirectory, openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { backupDataDirectory } from '../../src/storage/maintenance/backup.ts'
import { restoreDataDirectory } from '../../src/storage/maintenance/restore.ts'
import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import { keep, TestClock } from '../property/retention-model.ts'
import { temporaryFolder } from './folder.ts'
import { readModel } from './restored.ts'

const { signal } = new AbortController()
const DAY_S = 86_400
const DAY_US = DAY_S * 1_000_000
const LONGER = [keep('A', 365 * DAY_S), keep('B', DAY_S)]
const NOW = 1_700_000_000_000_000

test('what was written after rules kept for longer is restored, although the rules of the backup kept it not', async (t) => {
  const folder = temporaryFolder(t)
  const [data, archive, backup, target] = ['data', 'archive', 'backup', 'restored'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  t.after(() => directory.close())
  const clock = new TestClock(NOW)
  const openWith = async (
    root: string,
    rules: readonly RetentionRule[],
    use: (store: FileStore) => unknown,
  ) => {
    const store = await openFileStore(historianDirectory(root, 'local'), {
      historian: 'local',
      owner: true,
      retention: { rules, time: clock },
      archive: { folder: archive, everyMs: 1e9, keepBytes: 1 << 30 },
      limits: { reserveBytes: 0 },
    })
    try {
      await store.retain()
      await use(store)
    } finally {
      await store.close()
    }
  }
  await openWith(data, [keep('B', DAY_S), keep('*', DAY_S)], async (store) => {
    for (const daysAgo of [0.8, 0.6, 0]) {
      assert.equal(await write(store, 'A', daysAgo), null)
      assert.equal(await write(store, 'B', daysAgo), null)
    }
    clock.us += DAY_US
    await store.retain()
    assert.equal((await write(store, 'A', 200))?.count, 1)
  })
  await backupDataDirectory(data, backup, signal)

  await openWith(data, LONGER, async (store) => {
    assert.equal(await write(store, 'A', 200), null)
    assert.equal(await write(store, 'A', 100), null)
    assert.equal(await write(store, 'B', -0.5), null)
  })
  const written = await readModel(historianDirectory(data, 'local'))
  assert.deepEqual([...written.get('A')!.values()], [200, 100, 0])
  assert.deepEqual([...written.get('B')!.values()], [0, -0.5])

  await restoreDataDirectory(backup, target, { to: null, only: null, archiveOf: () => archive }, signal)
  const restored = await readModel(historianDirectory(target, 'local'))
  for (const value of [200, 100, 0]) assert.ok([...restored.get('A')!.values()].includes(value), `${value}`)
  assert.deepEqual(
    restored.get('B'),
    written.get('B'),
    'what hides nothing that was replayed hides as before',
  )
  await openWith(target, LONGER, () => {})
  assert.deepEqual(await readModel(historianDirectory(target, 'local')), restored)
})

/** Writes a point of some days before, or after, the moment at which the clock begins; its value says which. */
function write(store: FileStore, tag: string, daysAgo: number) {
  const points = makeColumns(1)
  points.times[0] = NOW - daysAgo * DAY_US
  points.values[0] = daysAgo
  return store.write(writeBatch([{ tag, points }], true), signal)
}
