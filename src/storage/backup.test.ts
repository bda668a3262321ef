import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { backupDataDirectory } from './backup.ts'
import { openDataDirectory } from './data-directory.ts'
import { UNFINISHED_FOLDER } from './names.ts'

const { signal } = new AbortController()

async function makeDirectory(t: TestContext): Promise<string> {
  const path = temporaryFolder(t)
  const directory = await openDataDirectory(path, { owner: true })
  await directory.close()
  return path
}

/** Puts another function in the place of one of `node:fs` for a test. */
function replace<Name extends 'mkdirSync' | 'rmSync' | 'fsyncSync'>(
  t: TestContext,
  name: Name,
  make: (real: (typeof fs)[Name]) => unknown,
): void {
  const real = fs[name]
  Object.assign(fs, { [name]: make(real) })
  syncBuiltinESMExports()
  t.after(() => {
    Object.assign(fs, { [name]: real })
    syncBuiltinESMExports()
  })
}

test('a folder with something in it is not made to look like an unfinished backup, not for a moment', async (t) => {
  const path = await makeDirectory(t)
  const other = await makeDirectory(t)
  const made: string[] = []
  replace(t, 'mkdirSync', (real) => (folder: string, options?: object) => {
    made.push(folder)
    return real(folder, options)
  })
  await assert.rejects(backupDataDirectory(path, other, signal), /a backup needs an empty folder/)
  assert.ok(!made.includes(join(other, UNFINISHED_FOLDER)), made.join())
})

test('why a backup failed is told although what it made cannot be removed', async (t) => {
  const path = await makeDirectory(t)
  const target = temporaryFolder(t)
  replace(t, 'fsyncSync', () => () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, fsync'), { code: 'ENOSPC' })
  })
  replace(t, 'rmSync', (real) => (file: string, options?: object) => {
    if (file.startsWith(join(target, '/')))
      throw Object.assign(new Error('EIO: i/o error, rm'), { code: 'EIO' })
    return real(file, options)
  })
  await assert.rejects(backupDataDirectory(path, target, signal), /cannot be used: the disk is full/)
})
