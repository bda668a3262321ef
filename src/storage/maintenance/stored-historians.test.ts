import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { openDataDirectory } from '../directory/data-directory.ts'
import type { HistorianElsewhere } from '../directory/elsewhere.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { backupDataDirectory } from './backup.ts'
import { checkDataDirectory } from './check-data-directory.ts'
import { type RepairedHistorian, repairDataDirectory } from './repair-data-directory.ts'
import { restoreDataDirectory } from './restore.ts'

const { signal } = new AbortController()

/** A data directory with a historian that has a folder of its own, and a backup of it. */
async function backedUp(t: TestContext) {
  const folder = temporaryFolder(t)
  const [data, far, backup] = ['data', 'far', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const directory = await openDataDirectory(data, { owner: true })
  const store = await openFileStore(far, { historian: 'far', owner: true, limits: { reserveBytes: 0 } })
  await store.write(writeBatch([{ tag: 'A', points: makeColumns(1) }], true), signal)
  await store.flush()
  await directory.known.add({ name: 'far', folder: far, ...store.identity, lastSequence: null })
  await store.close()
  await directory.close()
  await backupDataDirectory(data, backup, signal)
  const configured: readonly HistorianElsewhere[] = [{ name: 'far', folder: far }]
  return { folder, data, far, backup, copy: join(backup, 'elsewhere', 'far'), configured }
}

/** Flips a bit in the middle of the one part of a historian. */
function damagePart(historian: string): void {
  const parts = join(historian, 'parts')
  const [name] = readdirSync(parts)
  const bytes = readFileSync(join(parts, name!))
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(join(parts, name!), bytes)
}

/** Of a check, with and without the configuration. */
async function isSound(path: string, configured: readonly HistorianElsewhere[]) {
  const checks = [await checkDataDirectory(path, signal), await checkDataDirectory(path, signal, configured)]
  return checks.map((check) => check.isSound)
}

/** What a repair says of the one historian. */
async function repair(path: string, configured: readonly HistorianElsewhere[]) {
  let told: RepairedHistorian | null = null
  const tell = (repaired: RepairedHistorian) => {
    told = repaired
  }
  await repairDataDirectory(path, tell, signal, configured)
  return told as RepairedHistorian | null
}

test('of a backup its own copy of a historian elsewhere is checked, also with the configuration of the service', async (t) => {
  const { data, backup, copy, configured } = await backedUp(t)
  assert.deepEqual(await isSound(backup, configured), [true, true])
  damagePart(copy)
  assert.deepEqual(await isSound(backup, configured), [false, false])
  assert.deepEqual(await isSound(data, configured), [true, true])
})

test('a copy that is missing in a backup is missed, although the original is there', async (t) => {
  const { folder, data, backup, copy, configured } = await backedUp(t)
  const target = join(folder, 'restored')
  rmSync(copy, { recursive: true })
  assert.deepEqual(await isSound(backup, configured), [false, false])
  await restoreDataDirectory(backup, target, { to: null, only: null, archiveOf: () => null }, signal)
  assert.deepEqual(await isSound(target, configured), [false, false])
  assert.deepEqual(await isSound(data, configured), [true, true])
})

test('a repair of a backup leaves originals alone, also where the copy is missing', async (t) => {
  const { backup, far, copy, configured } = await backedUp(t)
  damagePart(far)
  const files = () => readdirSync(far, { recursive: true, encoding: 'utf8' }).sort()
  const before = files()
  const repaired = await repair(backup, configured)
  assert.equal(repaired?.report?.isSound, true)
  assert.deepEqual(files(), before)
  rmSync(join(backup, 'system', 'owner.lock'))
  rmSync(copy, { recursive: true })
  const missed = await repair(backup, configured)
  assert.match(missed?.failure ?? '', /there is no historian in it/)
  assert.deepEqual(files(), before)
})

test('a copy that was put back to its folder is the one that counts, before and after it is served', async (t) => {
  const { backup, far, copy, configured } = await backedUp(t)
  rmSync(far, { recursive: true })
  cpSync(copy, far, { recursive: true })
  renameSync(copy, `${copy}.away`)
  assert.deepEqual(await isSound(backup, configured), [true, true])
  renameSync(`${copy}.away`, copy)
  const directory = await openDataDirectory(backup, { owner: true })
  const before = await directory.known.get('far')
  const store = await openFileStore(far, { historian: 'far', owner: true, before })
  await directory.known.add({ name: 'far', folder: far, ...store.identity, lastSequence: null })
  await store.close()
  await directory.close()
  // What is left of the backup inside is not it any more.
  assert.deepEqual(await isSound(backup, configured), [true, true])
  damagePart(far)
  assert.deepEqual(await isSound(backup, configured), [false, false])
})
