import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { CallRates, TooManyCalls } from './call-rates.ts'

const here = { ip: '192.0.2.1' }

function setUp(callsPerSecond: number) {
  let now = 5_000
  const rates = new CallRates(callsPerSecond, () => now)
  /** Seconds to wait, 0 for a call that is taken. */
  const take = (key: string | null = 'a', from = here) => {
    try {
      rates.take(key, from)
      return 0
    } catch (error) {
      assert.ok(error instanceof TooManyCalls)
      return error.retryAfterSeconds
    }
  }
  return {
    rates,
    take,
    wait: (ms: number) => {
      now += ms
    },
  }
}

describe('calls of one key', () => {
  test('may come ten seconds ahead of their rate, and then at their rate', () => {
    const { take, wait } = setUp(2)
    assert.deepEqual(
      Array.from({ length: 20 }, () => take()),
      Array(20).fill(0),
    )
    assert.equal(take(), 1)
    wait(499)
    assert.equal(take(), 1)
    wait(1)
    assert.equal(take(), 0)
    assert.equal(take(), 1)
    wait(60_000)
    assert.deepEqual(
      Array.from({ length: 21 }, () => take()),
      [...Array(20).fill(0), 1],
    )
  })

  test('a rate below one call in ten seconds still allows one', () => {
    const { take, wait } = setUp(0.01)
    assert.deepEqual([take(), take()], [0, 100])
    wait(40_000)
    assert.equal(take(), 60)
    wait(60_000)
    assert.equal(take(), 0)
  })

  test('do not count for another key, nor for the address; addresses of one IPv6 network are one', () => {
    const { take, rates } = setUp(0.1)
    assert.deepEqual([take('a'), take('a'), take('b'), take(null)], [0, 10, 0, 0])
    assert.deepEqual([take(null), take(null, { ip: '192.0.2.2' })], [10, 0])
    const first = { ip: '2001:db8:1:2:3::1' }
    const second = { ip: '2001:db8:1:2:ffff::2' }
    assert.deepEqual([take(null, first), take(null, second)], [0, 10])
    assert.deepEqual(rates.refused, { key: 1, address: 2 })
  })

  test('never exceed the burst and the rate together, and a call after Retry-After is accepted', () => {
    const steps = fc.array(fc.record({ waitMs: fc.nat(3_000), calls: fc.integer({ min: 1, max: 30 }) }))
    fc.assert(
      fc.property(steps, fc.constantFrom(0.5, 1, 3, 7), (all, rate) => {
        const { take, wait } = setUp(rate)
        let elapsedMs = 0
        let taken = 0
        for (const { waitMs, calls } of all) {
          wait(waitMs)
          elapsedMs += waitMs
          for (let i = 0; i < calls; i++) if (take() === 0) taken++
          assert.ok(taken <= Math.floor(rate * (10 + elapsedMs / 1_000) + 1e-6))
        }
        while (take() === 0);
        wait(take() * 1_000)
        assert.equal(take(), 0)
      }),
    )
  })
})

test('a caller that is forgotten among very many begins anew', () => {
  const { take } = setUp(0.1)
  assert.deepEqual([take('first'), take('first')], [0, 10])
  for (let i = 0; i < 10_000; i++) take(`key ${i}`)
  assert.equal(take('first'), 0)
})
