import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimeSlice } from '../scheduling/time-slice.ts'
import { TickEnd } from './tick-end.ts'

test('all that waits in a tick is done together, when its work is done', async () => {
  const tickEnd = new TickEnd()
  const order: string[] = []
  tickEnd.add(() => order.push('first answered'))
  // Work of the same tick that takes several steps, and another answer at the end of it.
  for (let step = 0; step < 20; step++) await Promise.resolve()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  order.push('work done')
  const { promise, resolve } = Promise.withResolvers<void>()
  tickEnd.add(() => {
    order.push('second answered')
    void Promise.resolve().then(() => order.push('what follows from it'))
    resolve()
  })
  await promise
  assert.deepEqual(order, ['work done', 'first answered', 'second answered', 'what follows from it'])
})

test('what is added at the end of a tick waits for that of the next one', async () => {
  const tickEnd = new TickEnd()
  const order: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  tickEnd.add(() => {
    order.push('first')
    tickEnd.add(() => {
      order.push('third')
      resolve()
    })
  })
  tickEnd.add(() => order.push('second'))
  await promise
  assert.deepEqual(order, ['first', 'second', 'third'])
})

test('what waits in a tick is done before a long call that yielded goes on, and once', async () => {
  const slice = new TimeSlice()
  const tickEnd = new TickEnd(slice)
  const order: string[] = []
  for (let round = 1; round <= 2; round++) {
    const yielded = slice.next().then(() => order.push(`slice ${round}`))
    tickEnd.add(() => order.push(`answer ${round}`))
    await yielded
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(order, ['answer 1', 'slice 1', 'answer 2', 'slice 2'])
})
