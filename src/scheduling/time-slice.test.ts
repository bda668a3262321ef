import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { CooperativeScheduler } from './cooperative-scheduler.ts'
import { TimeSlice } from './time-slice.ts'

/** Work that takes its time on a clock of the test's own: nothing else takes any. */
function workOf(t: TestContext): (ms: number) => void {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  return (ms) => {
    now += ms
  }
}

test('long calls share one slice of a tick, and go on one in each tick, in their order', async (t) => {
  const work = workOf(t)
  const budget = new TimeSlice()
  const { signal } = new AbortController()
  const order: number[] = []
  let ticks = 0
  let isDone = false
  const counting = (async () => {
    while (!isDone) {
      await tick()
      ticks++
    }
  })()
  const calls = Array.from({ length: 5 }, async (_, call) => {
    const scheduler = new CooperativeScheduler(signal, performance.now(), budget)
    for (let step = 0; step < 3; step++) {
      order.push(call)
      work(6)
      await scheduler.yieldIfDue()
    }
  })
  await Promise.all(calls)
  isDone = true
  await counting
  assert.deepEqual(order, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
  assert.ok(ticks >= 15, `${ticks} ticks`)
})

test('what others have used of a tick counts, and the next tick begins anew', async (t) => {
  const work = workOf(t)
  const budget = new TimeSlice()
  const { signal } = new AbortController()
  const first = new CooperativeScheduler(signal, performance.now(), budget)
  assert.equal(first.isDue, false)
  work(6)
  assert.equal(new CooperativeScheduler(signal, performance.now(), budget).isDue, true)
  await tick()
  await tick()
  assert.equal(new CooperativeScheduler(signal, performance.now(), budget).isDue, false)
})

test('a call that is not wanted any more ends where it rests', async () => {
  const controller = new AbortController()
  const scheduler = new CooperativeScheduler(controller.signal, performance.now(), new TimeSlice())
  const resting = scheduler.yield()
  controller.abort(new Error('gone'))
  await assert.rejects(resting, /gone/)
})

test('calls that yielded let new connections come first, for one slice at most', async (t) => {
  const work = workOf(t)
  const budget = new TimeSlice()
  let went = 0
  const goOn = () => {
    went++
  }
  void budget.next().then(goOn)
  void budget.next().then(goOn)
  for (let connection = 0; connection < 3; connection++) {
    budget.postpone()
    await tick()
    assert.equal(went, 0)
  }
  await tick()
  assert.equal(went, 1)
  budget.postpone()
  await tick()
  assert.equal(went, 1)
  work(6)
  budget.postpone()
  await tick()
  assert.equal(went, 2)
})
