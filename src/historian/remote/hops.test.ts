import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterHops, INSTANCE_ID, isForAnotherInstance, MAX_HOPS, nextHops, readHops } from './hops.ts'

test('a call of a client has come through no instance', () => {
  assert.deepEqual(readHops(undefined), [])
  assert.equal(afterHops([], isForAnotherInstance), false)
  assert.equal(nextHops(), INSTANCE_ID)
})

test('calls made for another instance name all that it came through, also after waiting', async () => {
  await afterHops(readHops('a-1, b-2'), async () => {
    await new Promise(setImmediate)
    assert.equal(isForAnotherInstance(), true)
    assert.equal(nextHops(), `a-1,b-2,${INSTANCE_ID}`)
  })
  assert.equal(nextHops(), INSTANCE_ID)
})

test('a call that was here before is refused, and so is one that came too far', () => {
  assert.throws(() => readHops(`a,${INSTANCE_ID},b`), { code: 'HOP_LOOP' })
  const many = Array.from({ length: MAX_HOPS }, (_, index) => `i${index}`)
  assert.equal(readHops(many.join(',')).length, MAX_HOPS)
  assert.throws(() => readHops([...many, 'one-more'].join(',')), { code: 'HOP_LIMIT' })
})

test('what is no list of ids is refused', () => {
  for (const header of ['', 'a,,b', 'a b', 'a\r\nb', 'x'.repeat(65), ['a', 'b c']]) {
    assert.throws(() => readHops(header), { code: 'INVALID_REQUEST' }, String(header))
  }
})
