import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnEnd } from './turn-end.ts'

test('all who wait in a turn go on together, when its work is done', async () => {
  const turn = new TurnEnd()
  const order: string[] = []
  const answer = async (name: string) => {
    await turn.wait()
    order.push(`${name} answered`)
  }
  const first = answer('first')
  // Work of the same turn that takes several steps, and another answer at the end of it.
  for (let step = 0; step < 20; step++) await Promise.resolve()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  order.push('work done')
  await Promise.all([first, answer('second')])
  assert.deepEqual(order, ['work done', 'first answered', 'second answered'])
})

test('a turn that has ended does not keep those of the next one', async () => {
  const turn = new TurnEnd()
  const before = turn.wait()
  await before
  const after = turn.wait()
  assert.notEqual(after, before)
  await after
})
