import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryGate } from './memory-gate.ts'

/** Work that ends when it is told to. */
function work(): { readonly run: () => Promise<void>; readonly end: () => void; isRunning: boolean } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const one = {
    isRunning: false,
    run: async () => {
      one.isRunning = true
      await promise
    },
    end: resolve,
  }
  return one
}

const never = new AbortController().signal

test('what does not fit waits in the order of asking', async () => {
  const gate = new MemoryGate(100)
  const [first, second, third] = [work(), work(), work()]
  const ran = [
    gate.run(60, never, first.run),
    gate.run(60, never, second.run),
    gate.run(10, never, third.run),
  ]
  await Promise.resolve()
  assert.deepEqual([first.isRunning, second.isRunning, third.isRunning], [true, false, false])
  first.end()
  await ran[0]
  await new Promise(setImmediate)
  assert.deepEqual([second.isRunning, third.isRunning], [true, true])
  second.end()
  third.end()
  await Promise.all(ran)
})

test('what is larger than all there is runs alone', async () => {
  const gate = new MemoryGate(100)
  const [large, small] = [work(), work()]
  const ran = [gate.run(1e9, never, large.run), gate.run(1, never, small.run)]
  await Promise.resolve()
  assert.deepEqual([large.isRunning, small.isRunning], [true, false])
  large.end()
  small.end()
  await Promise.all(ran)
})

test('a call that ends while it waits leaves, and lets the next ones in', async () => {
  const gate = new MemoryGate(100)
  const [first, gone, last] = [work(), work(), work()]
  const controller = new AbortController()
  const ran = gate.run(60, never, first.run)
  const left = gate.run(60, controller.signal, gone.run)
  const third = gate.run(40, never, last.run)
  controller.abort(new Error('over'))
  await assert.rejects(left, { message: 'over' })
  await new Promise(setImmediate)
  assert.deepEqual([gone.isRunning, last.isRunning], [false, true])
  first.end()
  last.end()
  await Promise.all([ran, third])
})

test('work that fails gives its memory back', async () => {
  const gate = new MemoryGate(100)
  await assert.rejects(
    gate.run(100, never, async () => {
      throw new Error('failed')
    }),
    { message: 'failed' },
  )
  assert.equal(await gate.run(100, never, async () => 5), 5)
})
