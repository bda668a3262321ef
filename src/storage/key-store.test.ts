import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newKey, promiseKeyStore } from '../../test/contract/key-store-promises.ts'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { openDataDirectory } from './data-directory.ts'

promiseKeyStore(
  async (t) => {
    const path = temporaryFolder(t)
    return {
      open: async () => {
        const directory = await openDataDirectory(path, { owner: false, create: true })
        t.after(() => directory.close())
        return directory.keys
      },
    }
  },
  { skip: false },
)

test('a key outlives the process', async (t) => {
  const path = temporaryFolder(t)
  const first = await openDataDirectory(path, { owner: true })
  const { record, digest } = newKey('one')
  await first.keys.add(record, digest)
  await first.close()
  const directory = await openDataDirectory(path, { owner: true })
  assert.deepEqual(await directory.keys.find(digest), record)
  await directory.close()
})

test('a key that another opening revokes is seen as such with the next look', async (t) => {
  const path = temporaryFolder(t)
  const directory = await openDataDirectory(path, { owner: true })
  const one = newKey('one')
  await directory.keys.add(one.record, one.digest)
  const beside = await openDataDirectory(path, { owner: false })
  const revoked = await beside.keys.revoke('one')
  await beside.close()
  await new Promise((resolve) => setTimeout(resolve, 0))
  assert.deepEqual(await directory.keys.find(one.digest), revoked)
  await directory.close()
})
