import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { TimeSlice } from '../scheduling/time-slice.ts'
import { inSlices, Pacer } from './pause.ts'

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

test('a change goes on beside one long read in each tick, however many wait', async () => {
  const readers = 20
  const slices = 10
  const busy = () => {
    for (const end = performance.now() + 6; performance.now() < end; );
  }
  let turns = 0
  let isChanging = true
  const read = async () => {
    const pacer = new Pacer()
    while (isChanging) {
      await pacer.pause()
      turns++
    }
  }
  function* change(): Generator<void, void> {
    for (let slice = 0; slice < slices; slice++) {
      busy()
      yield
    }
  }
  const reads = Array.from({ length: readers }, read)
  await inSlices(change())
  isChanging = false
  assert.ok(turns > 0 && turns <= 2 * slices, `${turns} turns of reads`)
  await Promise.all(reads)
})
