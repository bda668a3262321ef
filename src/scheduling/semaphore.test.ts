import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from './semaphore.ts'

/** Work that goes on until it is told how to end. */
function begun() {
  const ends: PromiseWithResolvers<string>[] = []
  const work = () => {
    const end = Promise.withResolvers<string>()
    ends.push(end)
    return end.promise
  }
  return { ends, work }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('no more work goes on than there are places, and what waits is begun in its order', async () => {
  const { ends, work } = begun()
  const semaphore = new Semaphore(2)
  const all = Promise.all(Array.from({ length: 4 }, () => semaphore.run(work)))
  assert.equal(ends.length, 2)
  ends[1]!.resolve('b')
  await tick()
  assert.equal(ends.length, 3)
  ends[0]!.resolve('a')
  ends[2]!.resolve('c')
  await tick()
  ends[3]!.resolve('d')
  assert.deepEqual(await all, ['a', 'b', 'c', 'd'])
})

test('a common error is that of all that wait, which are not begun; a place is free again after it', async () => {
  const { ends, work } = begun()
  const gone = new Error('gone')
  const semaphore = new Semaphore(1, (error) => error === gone)
  const own = new Error('own')
  const all = Promise.allSettled(Array.from({ length: 4 }, () => semaphore.run(work)))
  ends[0]!.reject(own)
  await tick()
  ends[1]!.reject(gone)
  const reasons = (await all).map((settled) => (settled.status === 'rejected' ? settled.reason : null))
  assert.deepEqual(reasons, [own, gone, gone, gone])
  assert.equal(ends.length, 2)
  const next = semaphore.run(work)
  ends[2]!.resolve('next')
  assert.equal(await next, 'next')
})
