import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { temporaryFolder } from './folder.ts'

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
