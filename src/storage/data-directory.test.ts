import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { openDataDirectory } from './data-directory.ts'
import { Meta, openDatabase, openEnvironment } from './environment.ts'
import { DATABASES, FORMAT_VERSION, historianFolder, META } from './names.ts'
import { identityOf } from './process-identity.ts'

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code

/** Starts a process that owns the directory, or tells why it does not; it lives until it is killed. */
async function startOwner(path: string): Promise<{ readonly child: ChildProcess; readonly answer: string }> {
  const child = fork(join(import.meta.dirname, '../../test/durability/own-directory.ts'), [path])
  const answer = await new Promise<string>((resolve) => {
    child.once('message', (message) => resolve(String(message)))
    child.once('exit', () => resolve('exit'))
  })
  return { child, answer }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

/** Enters an owner as if another process had. */
async function forgeOwner(path: string, change: object): Promise<void> {
  const directory = await openDataDirectory(path, { owner: true })
  const meta = new Meta(openDatabase(directory.system, DATABASES.meta))
  const owner = meta.get(META.owner) as object
  await directory.system.transaction(() => meta.put(META.owner, { ...owner, token: 'forged', ...change }))
  await directory.close()
}

test('a data directory has one owner, in this process and among others', async (t) => {
  const path = temporaryFolder(t)
  const directory = await openDataDirectory(path, { owner: true })
  const inUse = (error: unknown) => {
    assert.ok(hasCode('DATA_DIR_IN_USE')(error))
    assert.match((error as Error).message, new RegExp(`\\(process ${process.pid}\\)`))
    return true
  }
  await assert.rejects(openDataDirectory(path, { owner: true }), inUse)
  const { child, answer } = await startOwner(path)
  assert.equal(answer, 'DATA_DIR_IN_USE')
  await kill(child)

  // Opening and closing beside the owner leaves it the owner.
  const beside = await openDataDirectory(path, { owner: false })
  await beside.close()
  await directory.keys.list()
  await assert.rejects(openDataDirectory(path, { owner: true }), inUse)
  await directory.close()
  await (await openDataDirectory(path, { owner: true })).close()
})

test('of several that start at the same time one becomes the owner, and its death frees the directory', async (t) => {
  const path = temporaryFolder(t)
  const starting = await Promise.all(Array.from({ length: 3 }, () => startOwner(path)))
  assert.deepEqual(starting.map(({ answer }) => answer).sort(), [
    'DATA_DIR_IN_USE',
    'DATA_DIR_IN_USE',
    'owner',
  ])
  for (const { child } of starting) await kill(child)
  await (await openDataDirectory(path, { owner: true })).close()
})

test('an owner whose process number was given to another process is dead', async (t) => {
  const path = temporaryFolder(t)
  if (identityOf(process.pid).startTime === null) return t.skip('there is no /proc here')
  await forgeOwner(path, { startTime: '1' })
  await (await openDataDirectory(path, { owner: true })).close()
})

test('an owner that cannot be looked at from here lives as long as its lease', async (t) => {
  const path = temporaryFolder(t)
  await forgeOwner(path, { host: 'elsewhere', bootId: 'another', pidNamespace: null, startTime: '1' })
  await assert.rejects(openDataDirectory(path, { owner: true }), hasCode('DATA_DIR_IN_USE'))
  utimesSync(join(path, 'system', 'owner.lease'), new Date(0), new Date(0))
  await (await openDataDirectory(path, { owner: true })).close()
})

test('a copy of a directory in use is free', async (t) => {
  const path = temporaryFolder(t)
  const copy = join(temporaryFolder(t), 'copy')
  const directory = await openDataDirectory(path, { owner: true })
  // Not its lock file: reading it in this process would release the locks that are held on it.
  cpSync(path, copy, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') })
  await (await openDataDirectory(copy, { owner: true })).close()
  await directory.close()
})

test('a directory of a newer format is refused', async (t) => {
  const path = temporaryFolder(t)
  await (await openDataDirectory(path, { owner: false })).close()
  const root = openEnvironment(join(path, 'system'))
  const meta = new Meta(openDatabase(root, DATABASES.meta))
  await root.transaction(() => meta.put(META.format, FORMAT_VERSION + 1))
  await root.close()
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
  mkdirSync(join(folder, 'other', 'system'), { recursive: true })
  writeFileSync(join(folder, 'other', 'system', 'data.mdb'), 'x'.repeat(10_000))
  await assert.rejects(
    openDataDirectory(join(folder, 'other'), { owner: true }),
    because(/damaged or of another program/),
  )
  if (process.getuid?.() === 0) return
  mkdirSync(join(folder, 'closed'))
  chmodSync(join(folder, 'closed'), 0o500)
  await assert.rejects(
    openDataDirectory(join(folder, 'closed'), { owner: true }),
    because(/permission to write there is missing/),
  )
})

test('no name of a historian leads out of its folder', () => {
  assert.equal(historianFolder('plant.2'), 'plant.2')
  assert.equal(historianFolder('..'), '%2E%2E')
  assert.equal(historianFolder('.a.'), '%2Ea%2E')
})
