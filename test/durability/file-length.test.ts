import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { temporaryFolder } from './folder.ts'

/** An environment with 100 entries whose file lacks 4 MB at its end: what is taken and given back in one commit is not written. */
async function makeUnwritten(folder: string) {
  const root = openEnvironment(folder)
  const store = openDatabase(root, 'a')
  for (let i = 0; i < 100; i++) await store.put(Buffer.of(i), Buffer.alloc(5_000, i))
  await root.transaction(() => {
    for (let i = 0; i < 80; i++) store.put(Buffer.of(100 + i), Buffer.alloc(50_000))
    for (let i = 0; i < 80; i++) store.remove(Buffer.of(100 + i))
  })
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number }
  await root.close()
  const whole = (lastPageNumber + 1) * pageSize
  const file = join(folder, 'data.mdb')
  assert.ok(fs.statSync(file).size < whole - 3e6)
  return { file, whole }
}

function assertWhole(folder: string): void {
  const root = openEnvironment(folder)
  const store = openDatabase(root, 'a')
  for (let i = 0; i < 100; i++) {
    const value = store.get(Buffer.of(i))!
    assert.deepEqual([value.length, value[0], value[4_999]], [5_000, i, i])
  }
  void root.close()
}

test('a file that lacks only pages that were never written is sound, whatever they are', async (t) => {
  const folder = temporaryFolder(t)
  const { file, whole } = await makeUnwritten(folder)
  assertWhole(folder)
  assert.equal(fs.statSync(file).size, whole)
})

test('it is sound, too, where there is no room to make it longer', async (t) => {
  const folder = temporaryFolder(t)
  await makeUnwritten(folder)
  const { truncateSync } = fs
  fs.truncateSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  syncBuiltinESMExports()
  t.after(() => {
    fs.truncateSync = truncateSync
    syncBuiltinESMExports()
  })
  assertWhole(folder)
})

test('a file that lacks a single page in use is refused', async (t) => {
  const folder = temporaryFolder(t)
  const root = openEnvironment(folder)
  const store = openDatabase(root, 'a')
  for (let i = 0; i < 20; i++) await store.put(Buffer.of(i), Buffer.alloc(5_000, i))
  await root.close()
  const file = join(folder, 'data.mdb')
  fs.truncateSync(file, fs.statSync(file).size - 4096)
  assert.throws(
    () => openEnvironment(folder),
    (error) => {
      assert.equal((error as { code?: unknown }).code, 'DATA_DIR_UNUSABLE')
      assert.match(
        (error as Error).message,
        /its data file is cut off: it ends at byte \d+, before page \d+, which is in use/,
      )
      return true
    },
  )
})

test('a process that opens a file whose last pages were never written cuts nothing off that another one writes meanwhile', async (t) => {
  const folder = temporaryFolder(t)
  const root = openEnvironment(folder)
  const store = openDatabase(root, 'a')
  for (let i = 0; i < 20; i++) await store.put(Buffer.of(i), Buffer.alloc(5_000))
  // What is taken and given back in one commit is not written.
  await root.transaction(() => {
    for (let i = 0; i < 8; i++) store.put(Buffer.of(100 + i), Buffer.alloc(50_000))
    for (let i = 0; i < 8; i++) store.remove(Buffer.of(100 + i))
  })
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number }
  assert.ok(fs.statSync(join(folder, 'data.mdb')).size < (lastPageNumber + 1) * pageSize)
  await root.close()

  let isAppended = false
  const { truncateSync } = fs
  fs.truncateSync = (path, length) => {
    // At the worst moment. Where that is impossible, because lmdb's lock is held, it is given up.
    const command = [join(import.meta.dirname, 'append-page.ts'), folder, 'key']
    const { stdout } = spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 2_000 })
    isAppended = stdout.includes('done')
    truncateSync(path, length)
  }
  syncBuiltinESMExports()
  t.after(() => {
    fs.truncateSync = truncateSync
    syncBuiltinESMExports()
  })
  const again = openEnvironment(folder)
  t.after(() => again.close())
  const { lastPageNumber: last } = again.getStats() as { lastPageNumber: number }
  assert.ok(fs.statSync(join(folder, 'data.mdb')).size >= (last + 1) * pageSize)
  if (isAppended) assert.equal(openDatabase(again, 'a').get(Buffer.from('key'))?.length, 2_000_000)
})
