import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { makeKey, makeKeyRecord } from '../config/keys.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns } from '../series/columns.ts'
import { backupDataDirectory } from './backup.ts'
import { openDataDirectory } from './data-directory.ts'
import { checkDataDirectory } from './maintenance.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()
const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code

test('a backup beside a busy service is one consistent state of each historian, and restores by copying', async (t) => {
  const path = temporaryFolder(t)
  const target = join(temporaryFolder(t), 'backup')
  const directory = await openDataDirectory(path, { owner: true })
  const key = makeKey()
  await directory.keys.add(
    makeKeyRecord({ name: 'one', scope: 'read', historians: null, expiresAt: null }, 1),
    key.digest,
  )
  const store = await openHistorianStore(directory.historianDirectory('plant'), {
    historian: 'plant',
    owner: true,
  })

  // Both tags get the same points in one request, again and again.
  let stop = false
  let sequence = 0
  const writing = (async () => {
    while (!stop) {
      const points = makeColumns(300)
      for (let i = 0; i < 300; i++) points.times[i] = sequence * 300 + i
      await store.write(
        writeBatch(
          ['a', 'b'].map((tag) => ({ tag, points })),
          true,
        ),
        signal,
      )
      sequence++
    }
  })()
  while (sequence < 5) await new Promise((resolve) => setTimeout(resolve, 1))
  await backupDataDirectory(path, target, signal)
  stop = true
  await writing
  await store.fold()
  const check = await checkDataDirectory(path, signal)
  assert.ok(check.isSound, JSON.stringify(check))
  assert.equal(check.keys, 1)
  assert.equal(check.historians[0]!.historian, 'plant')
  assert.equal(check.historians[0]!.check!.points, sequence * 600)

  const restored = join(temporaryFolder(t), 'restored')
  cpSync(target, restored, { recursive: true })
  const copy = await openDataDirectory(restored, { owner: true })
  assert.equal((await copy.keys.find(key.digest))!.name, 'one')
  const copied = await openHistorianStore(copy.historianDirectory('plant'), {
    historian: 'plant',
    owner: true,
  })
  const ever = { from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
  const [a, b] = await copied.readRanges(
    [
      { tag: 'a', ...ever },
      { tag: 'b', ...ever },
    ],
    signal,
  )
  assert.ok(a!.points.times.length >= 5 * 300)
  assert.equal(a!.points.times.length % 300, 0)
  assert.deepEqual(a, b)
  assert.deepEqual((await copied.check(signal)).problems, [])
  await copied.close()
  await copy.close()
  await store.close()
  await directory.close()
})

test('a backup needs an empty folder and a data directory', async (t) => {
  const path = temporaryFolder(t)
  await (await openDataDirectory(path, { owner: false })).close()
  const full = temporaryFolder(t)
  writeFileSync(join(full, 'x'), 'x')
  await assert.rejects(backupDataDirectory(path, full, signal), hasCode('DATA_DIR_UNUSABLE'))
  await assert.rejects(
    backupDataDirectory(join(full, 'none'), temporaryFolder(t), signal),
    hasCode('DATA_DIR_UNUSABLE'),
  )
})
