import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { STEP, VersionClock } from './version-clock.ts'

describe('versions', () => {
  test('grow strictly while the clock stands, jumps ahead and is set back', () => {
    let now = 1_700_000_000_000
    const clock = new VersionClock(() => now, 5)
    let last = 0n
    for (const step of [0, 0, 1_000, -5_000_000, 0, 10, 6_000_000]) {
      now += step
      const first = clock.take(3)
      assert.ok(first > last)
      last = first + 2n * STEP
    }
  })

  test('are the clock when nothing is against it, and tell processes apart', () => {
    const now = () => 1_700_000_000_000.25
    assert.equal(new VersionClock(now, 0).take(1), 1_700_000_000_000_250n * 1024n)
    assert.equal(new VersionClock(now, 9).take(1) - new VersionClock(now, 0).take(1), 9n)
  })

  test('fit into a UInt64 for as long as the interface has times', () => {
    const version = new VersionClock(() => Date.UTC(2200, 0, 1), 1023).take(1)
    assert.ok(version < 2n ** 63n)
  })
})
