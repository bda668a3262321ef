import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openFileStore } from './open-file-store.ts'

const owner = { historian: 'plant', owner: true, limits: { reserveBytes: 0 } }
/** Of the claims two stay. */
const FOLDERS = ['manifest', 'wal', 'catalog', 'parts', 'owner']

for (const [what, isMet] of [
  ['a manifest', (path: string) => /manifest-[^/]*$/.test(path)],
  ['a publication', (path: string) => /published-[^/]*$/.test(path)],
] as const) {
  test(`a service that waits for room for ${what} leaves no files of its tries, however many there are`, async (t) => {
    const folder = temporaryFolder(t)
    await (await openFileStore(folder, owner)).close()
    let tries = 0
    const files = new FailingFiles(systemFiles, (call, path) => {
      if (call !== 'write' || !isMet(path)) return null
      tries++
      return { code: 'ENOSPC' }
    })
    const store = await openFileStore(folder, { ...owner, files })
    await until(() => tries > 3, 'it is tried again and again')
    // It ends when the last try has.
    await store.close()
    const names = FOLDERS.map((name) => readdirSync(join(folder, name)).length)
    assert.deepEqual(names, [1, 1, 0, 0, 2], `after ${tries} tries`)
  })
}
