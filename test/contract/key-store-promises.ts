import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type KeyStore, makeKey, makeKeyRecord } from '../../src/config/keys.ts'

/** A fresh place for keys; each call of `open` is as another process would open it, until the test is over. */
export type OpenKeys = (t: TestContext) => Promise<{ open(): Promise<KeyStore> }>

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code

export function newKey(name: string, createdAt = 1) {
  const key = makeKey()
  const record = makeKeyRecord({ name, scope: 'read', historians: ['a'], expiresAt: null }, createdAt)
  return { record, ...key }
}

/** What every store of keys promises (src/config/keys.ts). */
export function promiseKeyStore(place: OpenKeys, options: { readonly skip: string | false }): void {
  test(
    'a key is found by its digest alone, as it was stored, through another opening too',
    options,
    async (t) => {
      const { open } = await place(t)
      const keys = await open()
      const one = newKey('one "\\ \'; æ 😀')
      const all = makeKey()
      const forAll = makeKeyRecord(
        { name: 'all', scope: 'write', historians: null, expiresAt: 1_900_000_000_123_456 },
        1_700_000_000_000_001,
      )
      await keys.add(one.record, one.digest)
      await keys.add(forAll, all.digest)
      for (const store of [keys, await open()]) {
        assert.deepEqual(await store.find(one.digest), one.record)
        assert.deepEqual(await store.find(all.digest), forAll)
        for (const at of [0, 8, 31]) {
          const nearly = Uint8Array.from(one.digest)
          nearly[at]! ^= 1
          assert.equal(await store.find(nearly), null)
        }
        assert.equal(await store.find(new Uint8Array(32)), null)
        assert.equal(await store.find(new Uint8Array(0)), null)
        const both = await Promise.all([one.digest, new Uint8Array(32), all.digest].map((d) => store.find(d)))
        assert.deepEqual(both, [one.record, null, forAll])
      }
    },
  )

  test('keys are listed as they were made, and names of keys in use are taken', options, async (t) => {
    const { open } = await place(t)
    const keys = await open()
    const [two, one] = [newKey('two', 2), newKey('one', 1)]
    await keys.add(two.record, two.digest)
    await keys.add(one.record, one.digest)
    assert.deepEqual(await keys.list(), [one.record, two.record])
    const again = newKey('two', 3)
    await assert.rejects(keys.add(again.record, again.digest), hasCode('KEY_EXISTS'))
    assert.equal((await keys.list()).length, 2)
    await keys.revoke('two')
    await keys.add(again.record, again.digest)
    assert.equal((await keys.list()).length, 3)
  })

  test('of two keys with one name that are made at the same time, one is made', options, async (t) => {
    const { open } = await place(t)
    const stores = await Promise.all([open(), open()])
    const made = await Promise.allSettled(
      stores.map((store) => {
        const { record, digest } = newKey('same')
        return store.add(record, digest)
      }),
    )
    assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const refused = made.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    assert.equal(refused.reason.code, 'KEY_EXISTS')
    assert.equal((await stores[0]!.list()).length, 1)
  })

  test('a key is revoked by its id or its name, for good', options, async (t) => {
    const { open } = await place(t)
    const [keys, beside] = [await open(), await open()]
    const one = newKey('one')
    await keys.add(one.record, one.digest)
    assert.equal(await keys.revoke('none'), null)
    assert.equal(await keys.revoke('no\0ne'), null)
    assert.deepEqual(await keys.find(one.digest), one.record)

    const revoked = await beside.revoke('one')
    assert.notEqual(revoked!.revokedAt, null)
    assert.deepEqual(await beside.find(one.digest), revoked)
    // The other one has just been asked for the key, and may believe in it for up to a second.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    assert.deepEqual(await keys.find(one.digest), revoked)
    assert.deepEqual(await keys.revoke(one.record.id), revoked)
    assert.equal(await keys.revoke('one'), null)
  })

  test('keys of a first start are made once, and never after there was any key', options, async (t) => {
    const { open } = await place(t)
    const [keys, beside] = [await open(), await open()]
    assert.equal(await keys.firstStartKeysMade(), false)
    const attempts = await Promise.all(
      [keys, beside, keys].map((store) => store.addFirstStartKeys([newKey('write'), newKey('read')])),
    )
    assert.deepEqual(attempts.toSorted(), [false, false, true])
    assert.equal((await beside.list()).length, 2)
    for (const { id } of await keys.list()) await keys.revoke(id)
    assert.equal(await beside.addFirstStartKeys([newKey('x')]), false)
    assert.equal(await keys.firstStartKeysMade(), true)

    const other = await (await place(t)).open()
    const made = newKey('made by hand')
    await other.add(made.record, made.digest)
    assert.equal(await other.addFirstStartKeys([newKey('x')]), false)
  })

  test('two first-start keys are added both or none', options, async (t) => {
    const keys = await (await place(t)).open()
    await assert.rejects(keys.addFirstStartKeys([newKey('same'), newKey('same')]), hasCode('KEY_EXISTS'))
    assert.deepEqual(await keys.list(), [])
    assert.equal(await keys.firstStartKeysMade(), false)
  })

  test(
    'a rotated key opens until its grace ends, and its name is that of the new one',
    options,
    async (t) => {
      const { open } = await place(t)
      const [keys, beside] = [await open(), await open()]
      const old = newKey('dashboards', 1)
      await keys.add(old.record, old.digest)
      const made = newKey('whatever', 5)
      assert.equal(await keys.rotate('none', made, 9), null)
      const rotation = await beside.rotate('dashboards', made, 9)
      assert.deepEqual(rotation, {
        old: { ...old.record, name: `dashboards~${old.record.id}`, expiresAt: 9 },
        replacement: { ...made.record, name: 'dashboards' },
      })
      assert.deepEqual(await beside.find(old.digest), rotation!.old)
      assert.deepEqual(await beside.find(made.digest), rotation!.replacement)
      assert.deepEqual(await keys.list(), [rotation!.old, rotation!.replacement])

      // Again, by the id: an end that is earlier stays, and one that is revoked has no successor.
      const third = newKey('', 6)
      const again = await keys.rotate(old.record.id, third, 20)
      assert.equal(again!.old.expiresAt, 9)
      await keys.revoke('dashboards')
      assert.equal(await keys.rotate('dashboards', newKey(''), 20), null)
      assert.equal(await keys.rotate(made.record.id, newKey(''), 20), null)
    },
  )

  test('the last use of keys is remembered, and never goes back', options, async (t) => {
    const { open } = await place(t)
    const keys = await open()
    const [one, two] = [newKey('one', 1), newKey('two', 2)]
    await keys.add(one.record, one.digest)
    await keys.add(two.record, two.digest)
    const at = 1_700_000_000_000_001
    await keys.noteUses(
      new Map([
        [one.record.id, at],
        ['unknown', at],
      ]),
    )
    await keys.noteUses(new Map([[one.record.id, at - 5]]))
    await keys.noteUses(new Map())
    const used = { ...one.record, lastUsedAt: at }
    assert.deepEqual(await (await open()).list(), [used, two.record])
    assert.deepEqual(await (await open()).find(one.digest), used)
    const { revokedAt, ...rest } = (await keys.revoke('one'))!
    assert.deepEqual({ ...rest, revokedAt: null }, used)
    assert.ok(revokedAt !== null)
  })
}
