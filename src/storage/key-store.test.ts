import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { makeKey, makeKeyRecord } from '../config/keys.ts'
import { openDataDirectory } from './data-directory.ts'

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code

function newKey(name: string, createdAt = 1) {
  const key = makeKey()
  const record = makeKeyRecord({ name, scope: 'read', historians: ['a'], expiresAt: null }, createdAt)
  return { record, ...key }
}

test('a key is found by its digest alone, and outlives the process', async (t) => {
  const path = temporaryFolder(t)
  const first = await openDataDirectory(path, { owner: true })
  const { record, digest } = newKey('one')
  await first.keys.add(record, digest)
  await first.close()

  const directory = await openDataDirectory(path, { owner: true })
  assert.deepEqual(await directory.keys.find(digest), record)
  const nearly = Uint8Array.from(digest)
  nearly[31]! ^= 1
  assert.equal(await directory.keys.find(nearly), null)
  assert.equal(await directory.keys.find(new Uint8Array(32)), null)
  assert.equal(await directory.keys.find(new Uint8Array(0)), null)
  await directory.close()
})

test('keys are listed as they were made, and names of keys in use are taken', async (t) => {
  const directory = await openDataDirectory(temporaryFolder(t), { owner: true })
  const { keys } = directory
  const [two, one] = [newKey('two', 2), newKey('one', 1)]
  await keys.add(two.record, two.digest)
  await keys.add(one.record, one.digest)
  assert.deepEqual(await keys.list(), [one.record, two.record])
  const again = newKey('two', 3)
  await assert.rejects(keys.add(again.record, again.digest), hasCode('KEY_EXISTS'))
  assert.equal((await keys.list()).length, 2)
  await keys.revoke('two')
  await keys.add(again.record, again.digest)
  await directory.close()
})

test('a key is revoked by its id or its name, for good', async (t) => {
  const path = temporaryFolder(t)
  const directory = await openDataDirectory(path, { owner: true })
  const { keys } = directory
  const one = newKey('one')
  await keys.add(one.record, one.digest)
  assert.equal(await keys.revoke('none'), null)

  // Another opening, as another process has: the owner sees it with its next look.
  const beside = await openDataDirectory(path, { owner: false })
  const revoked = await beside.keys.revoke('one')
  assert.notEqual(revoked!.revokedAt, null)
  await beside.close()
  await new Promise((resolve) => setTimeout(resolve, 0))
  assert.deepEqual(await keys.find(one.digest), revoked)
  assert.deepEqual(await keys.revoke(one.record.id), revoked)
  await directory.close()
})

test('keys of a first start are made once, and never after there was any key', async (t) => {
  const path = temporaryFolder(t)
  const directory = await openDataDirectory(path, { owner: true })
  const { keys } = directory
  assert.equal(keys.firstStartKeysMade(), false)
  const attempts = await Promise.all([
    keys.addFirstStartKeys([newKey('write'), newKey('read')]),
    keys.addFirstStartKeys([newKey('write'), newKey('read')]),
  ])
  assert.deepEqual(attempts.toSorted(), [false, true])
  assert.equal((await keys.list()).length, 2)
  for (const { id } of await keys.list()) await keys.revoke(id)
  assert.equal(await keys.addFirstStartKeys([newKey('x')]), false)
  assert.equal(keys.firstStartKeysMade(), true)
  await directory.close()

  const other = await openDataDirectory(temporaryFolder(t), { owner: true })
  const made = newKey('made by hand')
  await other.keys.add(made.record, made.digest)
  assert.equal(await other.keys.addFirstStartKeys([newKey('x')]), false)
  await other.close()
})

test('two first-start keys are added both or none', async (t) => {
  const directory = await openDataDirectory(temporaryFolder(t), { owner: true })
  const { keys } = directory
  await assert.rejects(keys.addFirstStartKeys([newKey('same'), newKey('same')]), hasCode('KEY_EXISTS'))
  assert.deepEqual(await keys.list(), [])
  assert.equal(keys.firstStartKeysMade(), false)
  await directory.close()
})
