import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIXED_LIMITS } from '../../errors/limits.ts'
import { HeldMemory } from './held-memory.ts'

const held = (signal?: AbortSignal): HeldMemory =>
  new HeldMemory(signal, () => {
    throw new Error('exhausted')
  })

/** Values for which a call has to be alone. */
const MANY = 500_000

test('values that wait for those of their inputs are limited, as long as they wait', async () => {
  const one = held()
  // With some 45 bytes each, two of them are over the limit and one is not.
  const half = FIXED_LIMITS.heldBytes.limit / 60
  for (let i = 0; i < 4; i++) await one.during(half, async () => {})
  const nested = one.during(half, () => one.during(half, async () => {}))
  await assert.rejects(nested, /exhausted/)
  const failing = () => Promise.reject(new Error('over'))
  for (let i = 0; i < 4; i++) await assert.rejects(one.during(half, failing), /over/)
})

test('columns that are remembered count until the end', async () => {
  const one = held()
  for (let i = 0; i < 40; i++) one.remember(FIXED_LIMITS.heldBytes.limit / 300)
  await assert.rejects(
    one.during(1_000_000, async () => {}),
    /exhausted/,
  )
})

test('it is crowded while very much waits', async () => {
  const one = held()
  assert.equal(one.isCrowded, false)
  await one.during(100_000, async () => assert.equal(one.isCrowded, true))
  assert.equal(one.isCrowded, false)
})

test('calls that hold much go one after the other, and others beside them', async () => {
  const [first, second, light] = [held(), held(), held()]
  const began: string[] = []
  const [ofFirst, ofSecond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begin = (name: string, until?: Promise<void>) => () => {
    began.push(name)
    return until ?? Promise.resolve()
  }
  const one = first.during(MANY, begin('first', ofFirst.promise))
  const other = second.during(MANY, begin('second', ofSecond.promise))
  await light.during(MANY / 2, begin('light'))
  await first.during(MANY, begin('more of the first'))
  await new Promise(setImmediate)
  assert.deepEqual(began, ['light', 'first', 'more of the first'])
  ofFirst.resolve()
  await one
  await new Promise(setImmediate)
  assert.equal(began.at(-1), 'second')
  ofSecond.resolve()
  await other
})

test('a call that remembers much is heavy as long as anything of it waits', async () => {
  const [first, second] = [held(), held()]
  first.remember(10 * MANY)
  const { promise, resolve } = Promise.withResolvers<void>()
  const working = first.during(1, () => promise)
  let hasBegun = false
  const waiting = second.during(MANY, async () => {
    hasBegun = true
  })
  await new Promise(setImmediate)
  assert.equal(hasBegun, false)
  resolve()
  await Promise.all([working, waiting])
})

test('calls wait until they are over at most, and keep nobody waiting when they are', async () => {
  const [over, waiting] = [new AbortController(), new AbortController()]
  void held(over.signal).during(MANY, () => new Promise<void>(() => {}))
  const second = held(waiting.signal).during(MANY, async () => 'second')
  const third = held().during(MANY, async () => 'third')
  waiting.abort(new Error('over'))
  await assert.rejects(second, /over/)
  over.abort()
  assert.equal(await third, 'third')
})
