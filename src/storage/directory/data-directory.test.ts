import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { historianFolder } from '../files/historian-folder.ts'
import { openDataDirectory } from './data-directory.ts'

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code
const OWNER = join(import.meta.dirname, '../../../test/durability/own-directory.ts')
/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 300_000

/** Another process that becomes the owner of a directory and stays it, or says why not; it ends with the test. */
async function startOwner(t: TestContext, path: string) {
  const child = fork(OWNER, [path], { timeout: PATIENCE_MS, killSignal: 'SIGKILL' })
  t.after(() => child.kill('SIGKILL'))
  const [answer] = (await once(child, 'message')) as [string]
  return { child, answer }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('a directory has one owner, and others beside it manage keys and aliases', async (t) => {
  const path = temporaryFolder(t)
  const directory = await openDataDirectory(path, { owner: true })
  await assert.rejects(openDataDirectory(path, { owner: true }), (error) => {
    assert.ok(hasCode('DATA_DIR_IN_USE')(error))
    assert.match((error as Error).message, new RegExp(`process ${process.pid}`))
    return true
  })
  const beside = await openDataDirectory(path, { owner: false })
  assert.deepEqual(await beside.keys.list(), [])
  await beside.close()
  await assert.rejects(openDataDirectory(path, { owner: true }), hasCode('DATA_DIR_IN_USE'))
  await directory.close()
  await (await openDataDirectory(path, { owner: true })).close()
})

test('of several that start at the same time one becomes the owner, and its death frees the directory', async (t) => {
  const path = temporaryFolder(t)
  const starting = await Promise.all(Array.from({ length: 3 }, () => startOwner(t, path)))
  assert.deepEqual(starting.map(({ answer }) => answer).sort(), [
    'DATA_DIR_IN_USE',
    'DATA_DIR_IN_USE',
    'owner',
  ])
  for (const { child } of starting) await kill(child)
  await (await openDataDirectory(path, { owner: true })).close()
})

test('an owner that stands still stays the owner', async (t) => {
  if (process.platform === 'win32') return t.skip('there is no SIGSTOP on Windows')
  const path = temporaryFolder(t)
  const { child, answer } = await startOwner(t, path)
  assert.equal(answer, 'owner')
  child.kill('SIGSTOP')
  await assert.rejects(openDataDirectory(path, { owner: true }), hasCode('DATA_DIR_IN_USE'))
  await kill(child)
  await (await openDataDirectory(path, { owner: true })).close()
})

test('a copy of a directory in use is free', async (t) => {
  const path = temporaryFolder(t)
  const copy = join(temporaryFolder(t), 'copy')
  const directory = await openDataDirectory(path, { owner: true })
  // Not its lock: reading it in this process would free it.
  cpSync(path, copy, { recursive: true, filter: (file) => !file.endsWith('owner.lock') })
  await (await openDataDirectory(copy, { owner: true })).close()
  await directory.close()
})

test('a directory of a newer format is refused', async (t) => {
  const path = temporaryFolder(t)
  await (await openDataDirectory(path, { owner: false })).close()
  const database = new DatabaseSync(join(path, 'system', 'system.db'))
  database.exec('PRAGMA user_version = 2')
  database.close()
  await assert.rejects(openDataDirectory(path, { owner: true }), hasCode('DATA_DIR_NEWER'))
})

test('what cannot be a data directory is refused with a reason', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, 'x')
  const because = (reason: RegExp) => (error: unknown) => {
    assert.ok(hasCode('DATA_DIR_UNUSABLE')(error), String(error))
    assert.match((error as Error).message, reason)
    return true
  }
  await assert.rejects(openDataDirectory(file, { owner: true }), because(/not a folder/))
  await assert.rejects(
    openDataDirectory(join(folder, 'none'), { owner: false, create: false }),
    because(/there is no data directory/),
  )
  const old = join(folder, 'old', 'system')
  mkdirSync(old, { recursive: true })
  writeFileSync(join(old, 'data.mdb'), 'x'.repeat(10_000))
  await assert.rejects(openDataDirectory(join(folder, 'old'), { owner: true }), because(/format 2/))
  assert.deepEqual(readdirSync(old), ['data.mdb'])
})

test('no name of a historian leads out of its folder', () => {
  assert.equal(historianFolder('plant.2'), 'plant.2')
  assert.equal(historianFolder('..'), '%2E%2E')
  assert.equal(historianFolder('.a.'), '%2Ea%2E')
})
