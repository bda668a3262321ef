import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { alias, allow, promiseAliasStore } from '../../test/contract/alias-store-promises.ts'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { backupDataDirectory } from './backup.ts'
import { openDataDirectory } from './data-directory.ts'
import { openDatabase } from './environment.ts'
import { checkDataDirectory } from './maintenance.ts'
import { DATABASES } from './names.ts'

async function storeIn(path: string, t: TestContext) {
  const directory = await openDataDirectory(path, { owner: false, create: true })
  t.after(() => directory.close())
  return directory
}

promiseAliasStore(
  async (t) => {
    const path = temporaryFolder(t)
    return { open: async () => (await storeIn(path, t)).aliases }
  },
  { skip: false },
)

test('what another process puts is there with the next look', async (t) => {
  const path = temporaryFolder(t)
  const { aliases } = await storeIn(path, t)
  await aliases.put(alias('mine'), allow)
  const script = `
    import { openDataDirectory } from ${JSON.stringify(join(import.meta.dirname, 'data-directory.ts'))}
    const directory = await openDataDirectory(${JSON.stringify(path)}, { owner: false })
    const mine = await directory.aliases.read((reader) => reader.get('mine'))
    await directory.aliases.put({ ...mine, name: 'theirs' }, () => {})
    await directory.aliases.delete('mine', () => {})
    await directory.close()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  assert.equal(await aliases.read((reader) => reader.get('mine')), null)
  assert.deepEqual(await aliases.read((reader) => reader.get('theirs')), alias('theirs'))
})

test('aliases are in a backup, and a check finds the damaged ones, which lead nowhere', async (t) => {
  const path = temporaryFolder(t)
  const directory = await storeIn(path, t)
  for (const name of ['a', 'b', 'c']) await directory.aliases.put(alias(name), allow)
  const target = join(temporaryFolder(t), 'backup')
  const { signal } = new AbortController()
  await backupDataDirectory(path, target, signal)
  const copy = await storeIn(target, t)
  assert.deepEqual(await copy.aliases.read((reader) => reader.get('b')), alias('b'))

  const store = openDatabase(directory.system, DATABASES.aliases)
  await store.put(Buffer.from('b'), Buffer.from('{"tag":5}'))
  await store.put(Buffer.from('c'), Buffer.from([0xff]))
  const check = await checkDataDirectory(path, signal)
  assert.deepEqual([check.aliases, check.damagedAliases, check.isSound], [3, 2, false])
  assert.equal(await directory.aliases.read((reader) => reader.get('c')), null)
  const rest = await directory.aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 9 }))
  assert.deepEqual(rest, [alias('a')])
})
