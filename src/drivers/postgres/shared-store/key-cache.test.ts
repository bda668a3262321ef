import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf, type KeyRecord, makeKeyRecord } from '../../../config/keys.ts'
import { KeyCache } from './key-cache.ts'

const record = makeKeyRecord({ name: 'one', scope: 'read', historians: null, expiresAt: null }, 1)
const digest = digestOf('one')

/** A store whose queries are answered by hand. */
function heldStore() {
  const queries: {
    readonly digests: readonly Uint8Array[]
    readonly answer: PromiseWithResolvers<(KeyRecord | null)[]>
  }[] = []
  const cache = new KeyCache((digests) => {
    const answer = Promise.withResolvers<(KeyRecord | null)[]>()
    queries.push({ digests, answer })
    return answer.promise
  })
  return { cache, queries }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('a key that was found is not asked for again at once, one that was not is', async (t) => {
  t.mock.method(performance, 'now', () => 1_000)
  let asked = 0
  const cache = new KeyCache(async (digests) => {
    asked++
    return digests.map((wanted) => (Buffer.compare(wanted, digest) === 0 ? record : null))
  })
  assert.equal(await cache.find(digest), record)
  assert.equal(await cache.find(digest), record)
  assert.equal(asked, 1)
  assert.equal(await cache.find(digestOf('x')), null)
  assert.equal(await cache.find(digestOf('x')), null)
  assert.equal(asked, 3)
})

test('a key is asked for again a second later', async (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  let found: KeyRecord | null = record
  const cache = new KeyCache(async () => [found])
  assert.equal(await cache.find(digest), record)
  found = null
  now += 899
  assert.equal(await cache.find(digest), record)
  now += 1
  assert.equal(await cache.find(digest), null)
})

test('the time counts from before the store was asked', async (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const { cache, queries } = heldStore()
  const first = cache.find(digest)
  await tick()
  now += 2_000
  queries[0]!.answer.resolve([record])
  assert.equal(await first, record)
  const second = cache.find(digest)
  await tick()
  assert.equal(queries.length, 2)
  queries[1]!.answer.resolve([null])
  assert.equal(await second, null)
})

test('one query is under way at a time, and who comes meanwhile does not share its answer', async () => {
  const { cache, queries } = heldStore()
  const first = [cache.find(digest), cache.find(digest), cache.find(digestOf('a'))]
  await tick()
  assert.equal(queries.length, 1)
  assert.equal(queries[0]!.digests.length, 2)
  const later = cache.find(digest)
  await tick()
  assert.equal(queries.length, 1)
  queries[0]!.answer.resolve([record, null])
  assert.deepEqual(await Promise.all(first), [record, record, null])
  await tick()
  assert.equal(queries.length, 2)
  queries[1]!.answer.resolve([null])
  assert.equal(await later, null)
})

test('a failure is reported to the waiting callers, and not cached', async () => {
  const { cache, queries } = heldStore()
  const refused = assert.rejects(cache.find(digest), /down/)
  await tick()
  queries[0]!.answer.reject(new Error('down'))
  await refused
  const again = cache.find(digest)
  await tick()
  queries[1]!.answer.resolve([record])
  assert.equal(await again, record)
})

test('what was asked for before keys were forgotten is not remembered', async () => {
  const { cache, queries } = heldStore()
  const first = cache.find(digest)
  await tick()
  cache.forget()
  queries[0]!.answer.resolve([record])
  assert.equal(await first, record)
  const second = cache.find(digest)
  await tick()
  queries[1]!.answer.resolve([null])
  assert.equal(await second, null)
})
