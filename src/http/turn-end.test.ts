import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnBudget } from '../scheduling/turn-budget.ts'
import { TurnEnd } from './turn-end.ts'

test('all that waits in a turn is done together, when its work is done', async () => {
  const turn = new TurnEnd()
  const order: string[] = []
  turn.add(() => order.push('first answered'))
  // Work of the same turn that takes several steps, and another answer at the end of it.
  for (let step = 0; step < 20; step++) await Promise.resolve()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  order.push('work done')
  const { promise, resolve } = Promise.withResolvers<void>()
  turn.add(() => {
    order.push('second answered')
    void Promise.resolve().then(() => order.push('what follows from it'))
    resolve()
  })
  await promise
  assert.deepEqual(order, ['work done', 'first answered', 'second answered', 'what follows from it'])
})

test('what is added at the end of a turn waits for that of the next one', async () => {
  const turn = new TurnEnd()
  const order: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  turn.add(() => {
    order.push('first')
    turn.add(() => {
      order.push('third')
      resolve()
    })
  })
  turn.add(() => order.push('second'))
  await promise
  assert.deepEqual(order, ['first', 'second', 'third'])
})

test('what waits in a turn is done before a long call that yielded goes on, and once', async () => {
  const budget = new TurnBudget()
  const turn = new TurnEnd(budget)
  const order: string[] = []
  for (let round = 1; round <= 2; round++) {
    const yielded = budget.next().then(() => order.push(`slice ${round}`))
    turn.add(() => order.push(`answer ${round}`))
    await yielded
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(order, ['answer 1', 'slice 1', 'answer 2', 'slice 2'])
})
