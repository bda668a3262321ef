import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { newKey, promiseKeyStore } from '../../../test/contract/key-store-promises.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { systemIn } from './system.fixture.ts'

promiseKeyStore(
  async (t) => {
    const folder = temporaryFolder(t)
    return { open: async () => (await systemIn(t, folder)).keys }
  },
  { skip: false },
)

test('a key that another opening revokes is seen as such within a second, and one of this opening at once', async (t) => {
  const folder = temporaryFolder(t)
  const [{ keys }, beside] = [await systemIn(t, folder), await systemIn(t, folder)]
  const one = newKey('one')
  await keys.add(one.record, one.digest)
  assert.deepEqual(keys.find(one.digest), one.record)
  const revoked = await beside.keys.revoke('one')
  await setTimeout(1_000)
  assert.deepEqual(keys.find(one.digest), revoked)
  const two = newKey('two')
  await keys.add(two.record, two.digest)
  assert.deepEqual(keys.find(two.digest), two.record)
  const revokedToo = await keys.revoke('two')
  assert.deepEqual(keys.find(two.digest), revokedToo)
})

test('a damaged key opens nothing, and no other one goes with it', async (t) => {
  const { keys, database } = await systemIn(t, temporaryFolder(t))
  const [one, two] = [newKey('one'), newKey('two')]
  await keys.add(one.record, one.digest)
  await keys.add(two.record, two.digest)
  for (const entry of [Buffer.concat([one.digest, Buffer.from('{"id":5}')]), Buffer.alloc(5), 'text']) {
    database
      .statement('UPDATE keys SET entry = ? WHERE place = ?')
      .run(entry as Buffer, one.digest.subarray(0, 8))
    assert.equal(await keys.find(one.digest), null)
    assert.deepEqual(await keys.list(), [two.record])
    assert.deepEqual(await keys.find(two.digest), two.record)
  }
})

test('a key that stands where it is not found is damaged, and others are no first ones', async (t) => {
  const { keys, database } = await systemIn(t, temporaryFolder(t))
  const [one, two] = [newKey('one'), newKey('two')]
  await keys.addFirstStartKeys([one, two])
  database
    .statement('UPDATE keys SET place = ? WHERE place = ?')
    .run(Buffer.alloc(8), one.digest.subarray(0, 8))
  database.statement('DELETE FROM meta').run()
  assert.equal(await keys.find(one.digest), null)
  assert.deepEqual(await keys.list(), [two.record])
  assert.deepEqual(await keys.check(), { keys: 2, damaged: 1 })
  assert.equal(await keys.firstStartKeysMade(), true)
  assert.equal(await keys.addFirstStartKeys([newKey('three')]), false)
})

test('a key that an earlier version stored without a checksum opens, and one whose record is another opens nothing', async (t) => {
  const { keys, database } = await systemIn(t, temporaryFolder(t))
  const { record, digest } = newKey('one')
  const put = (text: string) =>
    database
      .statement('INSERT OR REPLACE INTO keys VALUES (?, ?)')
      .run(digest.subarray(0, 8), Buffer.concat([digest, Buffer.from(text)]))
  put(JSON.stringify(record))
  assert.deepEqual(await keys.find(digest), record)
  await keys.noteUses(new Map([[record.id, 5]]))
  assert.deepEqual(await keys.list(), [{ ...record, lastUsedAt: 5 }])
  const entry = database.statement('SELECT entry FROM keys').get()!.entry as Uint8Array
  const text = Buffer.from(entry).toString('utf8', digest.length)
  assert.match(text, /^\{"crc":\d+,"id":/)
  assert.deepEqual(await keys.check(), { keys: 1, damaged: 0 })
  put(text.replace('"scope":"read"', '"scope":"write"'))
  assert.deepEqual(await keys.list(), [])
  assert.deepEqual(await keys.check(), { keys: 1, damaged: 1 })
})
