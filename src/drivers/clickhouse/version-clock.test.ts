import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { VersionClock } from './version-clock.ts'

describe('versions', () => {
  test('grow strictly while the clock stands, jumps ahead and is set back', () => {
    let now = 1_700_000_000_000
    const clock = new VersionClock(() => now, 5)
    let last = 0n
    for (const step of [0, 0, 1_000, -5_000_000, 0, 10, 6_000_000]) {
      now += step
      const version = clock.take()
      assert.ok(version > last)
      last = version
    }
  })

  test('are the clock when nothing is against it, and tell processes apart', () => {
    const now = () => 1_700_000_000_000.25
    assert.equal(new VersionClock(now, 0).take(), 1_700_000_000_000_250n * 1024n)
    assert.equal(new VersionClock(now, 9).take() - new VersionClock(now, 0).take(), 9n)
  })

  test('are above what was met, and above the deletion of it, and still tell processes apart', () => {
    const wall = 1_700_000_000_000
    const off = fc.integer({ min: -5_000_000, max: 5_000_000 })
    const process = fc.integer({ min: 0, max: 1_023 })
    fc.assert(
      fc.property(fc.array(off, { minLength: 1, maxLength: 5 }), process, process, (offs, one, other) => {
        const clock = new VersionClock(() => wall, one)
        const second = new VersionClock(() => wall, other)
        for (const step of offs) {
          const met = BigInt(wall) * 1_024_000n + BigInt(step)
          clock.meet(met)
          second.meet(met)
          const version = clock.take()
          assert.ok(version > met + 1n)
          assert.equal(version % 1_024n, BigInt(one))
          if (one !== other) assert.notEqual(second.take(), version)
        }
      }),
    )
  })

  test('fit into a UInt64 for as long as the interface has times', () => {
    const version = new VersionClock(() => Date.UTC(2200, 0, 1), 1023).take()
    assert.ok(version < 2n ** 63n)
  })
})
