import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import type { Files } from '../../src/storage/files/files.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { backupDataDirectory } from '../../src/storage/maintenance/backup.ts'
import { checkDataDirectory } from '../../src/storage/maintenance/check-data-directory.ts'
import { restoreDataDirectory } from '../../src/storage/maintenance/restore.ts'
import { newKey } from '../contract/key-store-promises.ts'
import { temporaryFolder } from './folder.ts'
import { modelOf, openToRead, printed, STEPS, signal } from './workload.ts'

/*
 * Backups and restores of whole data directories, with a fault at each of their calls of the file layer. What they
 * leave is whole or nothing, and what they are made of stays as it is.
 */

/** Nothing depends on the disk but time. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
/** After so many faults one is tried again where it failed. */
const AGAIN_EVERY = 5

const key = newKey('kept')

interface Places {
  readonly data: string
  readonly backup: string
  readonly archive: string
  /** What is in the backup, and what is there in the end. */
  readonly early: string
  readonly late: string
}

/** A data directory with a key and a historian that writes on after a backup, and archives. */
async function lived(t: TestContext): Promise<Places> {
  const base = temporaryFolder(t, BASE)
  const [data, backup, archive] = ['data', 'backup', 'archive'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(archive)
  const directory = await openDataDirectory(data, { owner: true })
  await directory.keys.add(key.record, key.digest)
  const store = await openFileStore(directory.historianDirectory('plant'), {
    historian: 'plant',
    owner: true,
    archive: { folder: archive, everyMs: 3_600_000, keepBytes: 1 << 30 },
    limits: { reserveBytes: 0 },
  })
  await directory.known.add({ name: 'plant', folder: null, ...store.identity, lastSequence: null })
  for (const step of STEPS.slice(0, 9)) await step.run(store)
  const early = printed(await modelOf(store))
  await backupDataDirectory(data, backup, signal)
  for (const step of STEPS.slice(9)) await step.run(store)
  const late = printed(await modelOf(store))
  assert.notEqual(late, early)
  await store.close()
  await directory.close()
  return { data, backup, archive, early, late }
}

async function assertWhole(target: string, expected: string, what: string): Promise<void> {
  const { isSound, keys, historians } = await checkDataDirectory(target, signal)
  assert.ok(isSound, `${what}: ${JSON.stringify(historians)}`)
  assert.equal(keys, 1, what)
  const store = await openToRead(systemFiles, join(target, 'historians', 'plant'))
  assert.equal(printed(await modelOf(store)), expected, what)
  await store.close()
}

/** Makes a data directory with a fault at each call of the file layer. */
async function failEverywhere(
  t: TestContext,
  make: (target: string, files: Files) => Promise<unknown>,
  expected: string,
): Promise<void> {
  const base = temporaryFolder(t, BASE)
  const target = join(base, 'deep', 'target')
  const counting = new FailingFiles(systemFiles)
  await make(target, counting)
  await assertWhole(target, expected, 'without faults')
  let failed = 0
  for (let at = 0; at < counting.calls; at++) {
    rmSync(join(base, 'deep'), { recursive: true })
    const code = at % 3 === 0 ? 'ENOSPC' : 'EIO'
    const files = new FailingFiles(systemFiles, (_call, _path, number) =>
      number === at ? { code, short: at % 2 === 0 } : null,
    )
    const error: unknown = await make(target, files).then(
      () => null,
      (reason: unknown) => reason,
    )
    const what = `${code} at call ${at}`
    if (error === null) {
      await assertWhole(target, expected, what)
      continue
    }
    failed++
    assert.ok(error instanceof TidemarkError, `${what}: ${String(error)}`)
    // A part that the disk does not give is damaged.
    assert.ok(['DATA_DIR_UNUSABLE', 'STORAGE_CORRUPT'].includes(error.code), `${what}: ${error.message}`)
    assert.ok(
      error.code !== 'STORAGE_CORRUPT' || /the disk reports an error/.test(error.message),
      error.message,
    )
    if (existsSync(target)) assert.deepEqual(readdirSync(target), [], `${what}: something is left`)
    else mkdirSync(target, { recursive: true })
    if (failed % AGAIN_EVERY !== 0) continue
    await make(target, systemFiles)
    await assertWhole(target, expected, `${what}, made again`)
  }
  t.diagnostic(`${counting.calls} calls, ${failed} of them failed it`)
  assert.ok(failed > counting.calls / 2)
}

test('a backup of a data directory that fails at any call leaves nothing, and the next one is whole', async (t) => {
  const { data, late } = await lived(t)
  const options = { mode: 'copy', since: null, elsewhere: [] } as const
  const make = (target: string, files: Files) => backupDataDirectory(data, target, signal, options, files)
  await failEverywhere(t, make, late)
  await assertWhole(data, late, 'the data directory')
})

test('a restore to the end of the archive that fails at any call leaves nothing, and the next one is whole', async (t) => {
  const { backup, archive, early, late } = await lived(t)
  const options = { to: null, only: null, archiveOf: () => archive }
  const make = (target: string, files: Files) => restoreDataDirectory(backup, target, options, signal, files)
  await failEverywhere(t, make, late)
  await assertWhole(backup, early, 'the backup')
})
