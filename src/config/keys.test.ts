import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf, isUsable, makeKey, makeKeyRecord } from './keys.ts'

test('keys are 256 random bits, and only their digest finds them', () => {
  const one = makeKey()
  const two = makeKey()
  assert.notEqual(one.secret, two.secret)
  assert.match(one.secret, /^tdm_[A-Za-z0-9_-]{43}$/)
  assert.equal(one.digest.length, 32)
  assert.deepEqual(digestOf(one.secret), one.digest)
  assert.notDeepEqual(digestOf(`${one.secret} `), one.digest)
})

test('a key is usable until it expires or is revoked', () => {
  const key = { name: 'a', scope: 'read', historians: null, expiresAt: 100 } as const
  const record = makeKeyRecord(key, 7)
  assert.equal(record.createdAt, 7)
  assert.ok(isUsable(record, 99))
  assert.ok(!isUsable(record, 100))
  assert.ok(isUsable({ ...record, expiresAt: null }, 1e18))
  assert.ok(!isUsable({ ...record, revokedAt: 8 }, 9))
})
