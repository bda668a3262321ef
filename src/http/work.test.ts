import assert from 'node:assert/strict'
import test from 'node:test'
import { addressGroup, WorkInHand } from './work.ts'

const overloaded = { code: 'OVERLOADED' }
const unshared = { callerSharePercent: 100 }

/** Calls of a key and an address that are named alike. */
function callsOf(work: WorkInHand) {
  const arrive = (key: string, address = key) => work.arrive({ key, address })
  const begin = (key: string, address = key) => {
    const share = arrive(key, address)
    share.begin()
    return share
  }
  /** Begins calls until one is refused, and says how many there were. */
  const fill = (key: string, address = key) => {
    for (let began = 0; ; began++) {
      try {
        begin(key, address)
      } catch {
        return began
      }
    }
  }
  return { arrive, begin, fill }
}

test('as many calls as allowed are taken in, and one more after one has left', () => {
  const work = new WorkInHand({ maxConcurrentCalls: 2, maxBytesInWork: 100, ...unshared })
  const { begin } = callsOf(work)
  const first = begin('a')
  begin('a')
  assert.throws(() => begin('a'), overloaded)
  assert.throws(() => begin('b'), overloaded)
  first.leave()
  assert.equal(work.calls, 1)
  begin('a')
})

test('a call that arrives has no place, and is refused when it is whole and none is free', () => {
  const work = new WorkInHand({ maxConcurrentCalls: 1, maxBytesInWork: 100, ...unshared })
  const { arrive, begin } = callsOf(work)
  const slow = [arrive('a'), arrive('a'), arrive('a')]
  assert.deepEqual([work.calls, work.arriving], [0, 3])
  const quick = begin('b')
  assert.throws(() => slow[0]!.begin(), overloaded)
  quick.leave()
  slow[0]!.begin()
  slow[0]!.begin()
  assert.deepEqual([work.calls, work.arriving], [1, 2])
  for (const share of slow) share.leave()
  assert.deepEqual([work.calls, work.arriving], [0, 0])
})

test('one key or address alone leaves places for others, and two leave some for a third', () => {
  for (const sameKey of [true, false]) {
    const work = new WorkInHand({ maxConcurrentCalls: 64, maxBytesInWork: 100, callerSharePercent: 75 })
    const { fill } = callsOf(work)
    const filled = (name: string) =>
      sameKey ? fill(name, `of ${Math.random()}`) : fill(`of ${Math.random()}`, name)
    assert.equal(fill('both', 'both'), 48)
    assert.ok(filled('second') >= 8)
    assert.ok(filled('third') >= 1)
    assert.ok(work.calls < 64)
    assert.ok(filled('fourth') >= 1)
  }
})

test('a key from many addresses, and many keys from one address, have no more than one of each', () => {
  for (const source of [(i: number) => ['key', `${i}`], (i: number) => [`${i}`, 'address']] as const) {
    const work = new WorkInHand({ maxConcurrentCalls: 64, maxBytesInWork: 100, callerSharePercent: 75 })
    const { begin } = callsOf(work)
    assert.throws(() => {
      for (let i = 0; i < 64; i++) begin(...(source(i) as [string, string]))
    }, overloaded)
    assert.equal(work.calls, 48)
  }
})

test('who has nothing yet gets the last place', () => {
  const work = new WorkInHand({ maxConcurrentCalls: 2, maxBytesInWork: 100, callerSharePercent: 50 })
  const { begin } = callsOf(work)
  begin('a')
  assert.throws(() => begin('a'), overloaded)
  begin('b')
  assert.throws(() => begin('c'), overloaded)
})

test('bodies count together, and a refused one holds what it held before', () => {
  const work = new WorkInHand({ maxConcurrentCalls: 9, maxBytesInWork: 100, ...unshared })
  const { begin } = callsOf(work)
  const one = begin('a')
  const two = begin('a')
  one.holdBytes(60)
  two.holdBytes(40)
  assert.throws(() => two.holdBytes(41), overloaded)
  assert.equal(work.bytes, 100)
  one.leave()
  two.holdBytes(100)
  assert.equal(work.bytes, 100)
})

test('bytes are shared as places are, and a single call may hold what is free', () => {
  const work = new WorkInHand({ maxConcurrentCalls: 99, maxBytesInWork: 1_000, callerSharePercent: 75 })
  const { begin } = callsOf(work)
  begin('a').holdBytes(700)
  assert.throws(() => begin('a').holdBytes(60), overloaded)
  begin('a').holdBytes(40)
  assert.throws(() => begin('b').checkBytes(261), overloaded)
  begin('b').checkBytes(260)
  assert.equal(work.bytes, 740)
  begin('b').holdBytes(260)
})

test('holding less than before changes nothing', () => {
  const work = new WorkInHand({ maxConcurrentCalls: 9, maxBytesInWork: 100, ...unshared })
  const share = callsOf(work).begin('a')
  share.holdBytes(50)
  share.holdBytes(10)
  assert.equal(work.bytes, 50)
})

test('a call is in work until its last user has left, and gives back all that it had', async () => {
  const work = new WorkInHand({ maxConcurrentCalls: 4, maxBytesInWork: 100, callerSharePercent: 75 })
  const { begin, fill } = callsOf(work)
  const share = begin('a')
  share.holdBytes(100)
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
  assert.deepEqual([work.calls, work.bytes, work.arriving], [0, 0, 0])
  assert.equal(fill('a'), 3)
})

for (const [address, group] of [
  ['10.0.0.7', '10.0.0.7'],
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
] as const) {
  test(`${address} shares as ${group}`, () => assert.equal(addressGroup(address), group))
}
