import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resultOf, type Steps, walk } from './steps.ts'

function* sum(...values: readonly (number | Promise<number>)[]): Steps<number> {
  let total = 0
  for (const value of values) total += yield* resultOf(value)
  return total
}

describe('work in steps', () => {
  test('is done at once where nothing is waited for', () => {
    assert.equal(walk(sum(1, 2, 3)), 6)
    const failing: () => Steps<number> = () => sum(1, 2n as unknown as number)
    assert.throws(() => walk(failing()), TypeError)
  })

  test('waits for what is not there yet', async () => {
    const result = walk(sum(1, Promise.resolve(2), 3, Promise.resolve(4)))
    assert.ok(result instanceof Promise)
    assert.equal(await result, 10)
  })

  test('is told what could not be had, and goes on or rejects', async () => {
    const failing = () => Promise.reject<number>(new RangeError('later'))
    await assert.rejects(async () => walk(sum(1, failing())), RangeError)
    function* mended(): Steps<number> {
      try {
        return yield* resultOf(failing())
      } catch {
        return yield* resultOf(Promise.resolve(5))
      }
    }
    assert.equal(await walk(mended()), 5)
  })
})
