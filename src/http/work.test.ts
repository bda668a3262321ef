import assert from 'node:assert/strict'
import test from 'node:test'
import { WorkInHand } from './work.ts'

const overloaded = { code: 'OVERLOADED' }

test('as many calls as allowed are taken in, and one more after one has left', () => {
  const work = new WorkInHand(2, 100)
  const first = work.begin()
  work.begin()
  assert.throws(() => work.begin(), overloaded)
  first.leave()
  assert.equal(work.calls, 1)
  work.begin()
})

test('bodies count together, and a refused one holds what it held before', () => {
  const work = new WorkInHand(9, 100)
  const one = work.begin()
  const two = work.begin()
  one.holdBytes(60)
  two.holdBytes(40)
  assert.throws(() => two.holdBytes(41), overloaded)
  assert.equal(work.bytes, 100)
  one.leave()
  two.holdBytes(100)
  assert.equal(work.bytes, 100)
})

test('holding less than before changes nothing', () => {
  const work = new WorkInHand(9, 100)
  const share = work.begin()
  share.holdBytes(50)
  share.holdBytes(10)
  assert.equal(work.bytes, 50)
})

test('a call is in work until its last user has left', async () => {
  const work = new WorkInHand(9, 100)
  const share = work.begin()
  share.use()
  let idle = false
  const waiting = work.idle().then(() => {
    idle = true
  })
  share.leave()
  await Promise.resolve()
  assert.equal(work.calls, 1)
  assert.equal(idle, false)
  share.leave()
  await waiting
  assert.equal(work.calls, 0)
})
