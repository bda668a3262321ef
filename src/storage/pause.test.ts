import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { TimeSlice } from '../scheduling/time-slice.ts'
import { Pacer } from './pause.ts'

test('a read yields when the slice of the tick is spent, whoever spent it', async (t) => {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  await tick()
  assert.equal(TimeSlice.shared.isSpent(), false)
  const [pacer, other] = [new Pacer(), new Pacer()]
  assert.equal(pacer.isDue(100), false)
  now += 10
  assert.equal(other.isDue(100), true)
  await other.pause()
  assert.equal(other.isDue(100), false)
})
