import assert from 'node:assert/strict'
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openDataDirectory } from '../../src/storage/data-directory.ts'
import { Meta, openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { DATABASES, FORMAT_VERSION, META } from '../../src/storage/names.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { temporaryFolder } from './folder.ts'

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const
const open = (folder: string) => openHistorianStore(folder, { historian: 'plant', owner: true })

test('a disk that is full while folding is under way fails writes and loses nothing', {
  skip: process.platform === 'win32',
}, async (t) => {
  const folder = temporaryFolder(t)
  // The size of files is limited instead, which looks the same to lmdb.
  const command = `trap '' XFSZ; ulimit -f 8000; exec "$0" "$1" "$2" fold`
  const script = join(import.meta.dirname, 'fill-disk.ts')
  const { stdout, status } = spawnSync('bash', ['-c', command, process.execPath, script, folder], {
    encoding: 'utf8',
  })
  assert.equal(status, 0)
  const { written, codes, stored } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  assert.deepEqual(codes, ['WRITE_FAILED', 'WRITE_FAILED'])
  assert.ok(written > 0)
  assert.equal(stored, written)

  // With room again, everything goes on.
  const store = await open(folder)
  t.after(() => store.close())
  const count = async () => (await store.readRanges([{ tag: 'a', ...EVER }], signal))[0]!.points.times.length
  assert.equal(await count(), written)
  await store.fold()
  assert.deepEqual((await store.check(signal)).problems, [])
  assert.equal(await count(), written)
  const points = makeColumns(1)
  points.times[0] = 1e12
  await store.write(writeBatch([{ tag: 'a', points }], false), signal)
  assert.equal(await count(), written + 1)
})

/** A user to whom rights are denied, who root is not. */
const SOMEBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** What a process of that user says when it wants to own a data directory. */
async function ownAsSomebody(path: string): Promise<string> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'own-directory.ts'), [path], SOMEBODY)
  const answer = await new Promise<string>((resolve) => {
    child.once('message', (message) => resolve(String(message)))
    child.once('exit', (code) => resolve(`exit ${code}`))
  })
  child.kill('SIGKILL')
  return answer
}

test('a directory that may not be written to is refused and left as it is', {
  skip: process.platform === 'win32',
}, async (t) => {
  const base = temporaryFolder(t)
  chmodSync(base, 0o755)
  const path = join(base, 'data')
  await (await openDataDirectory(path, { owner: true })).close()
  const file = join(path, 'system', 'data.mdb')
  const before = readFileSync(file)
  chmodSync(join(path, 'system'), 0o555)
  chmodSync(file, 0o444)
  assert.equal(await ownAsSomebody(path), 'DATA_DIR_UNUSABLE')
  // Nor one that must be made first, where that is not allowed.
  chmodSync(base, 0o555)
  assert.equal(await ownAsSomebody(join(base, 'other')), 'DATA_DIR_UNUSABLE')
  chmodSync(base, 0o755)
  chmodSync(join(path, 'system'), 0o755)
  chmodSync(file, 0o644)
  assert.deepEqual(readFileSync(file), before)
  if (SOMEBODY.uid !== undefined) chownSync(path, 0, 0)
  await (await openDataDirectory(path, { owner: true })).close()
})

test('a historian of a newer version is refused and left as it is', async (t) => {
  const folder = temporaryFolder(t)
  await (await open(folder)).close()
  const root = openEnvironment(folder)
  const meta = new Meta(openDatabase(root, DATABASES.meta))
  await root.transaction(() => meta.put(META.format, FORMAT_VERSION + 1))
  await root.close()
  const before = readFileSync(join(folder, 'data.mdb'))
  for (const owner of [true, false]) {
    await assert.rejects(openHistorianStore(folder, { historian: 'plant', owner }), (error) => {
      assert.equal((error as { code?: unknown }).code, 'DATA_DIR_NEWER')
      assert.match((error as Error).message, new RegExp(String(FORMAT_VERSION + 1)))
      return true
    })
  }
  assert.deepEqual(readFileSync(join(folder, 'data.mdb')), before)
})

test('what could not be opened is not owned: it can be tried again', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(folder)
  await store.close()
  const root = openEnvironment(folder)
  const tags = openDatabase(root, DATABASES.tags)
  const meta = new Meta(openDatabase(root, DATABASES.meta))
  // A record of a tag that is none, met when the search index is made anew.
  await root.transaction(() => {
    tags.put(Buffer.of(0, 0, 0, 1), Buffer.of(9, 9, 9))
    meta.put(META.unicode, '1.0')
  })
  await root.close()
  await assert.rejects(open(folder))
  const again = openEnvironment(folder)
  await again.transaction(() => openDatabase(again, DATABASES.tags).remove(Buffer.of(0, 0, 0, 1)))
  await again.close()
  await (await open(folder)).close()
})
