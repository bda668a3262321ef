import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArraySource } from './array-source.fixture.ts'
import { Evaluation, Pace } from './evaluation.ts'

const evaluation = (signal?: AbortSignal): Evaluation =>
  new Evaluation({ source: new ArraySource(new Map()), ...(signal !== undefined && { signal }) })

test('steps cover all items once, in their order', async () => {
  const done: number[] = []
  await evaluation().inSteps(5_000, (from, to) => {
    for (let i = from; i < to; i++) done.push(i)
  })
  assert.deepEqual(
    done,
    Array.from({ length: 5_000 }, (_, i) => i),
  )
  await evaluation().inSteps(0, () => assert.fail('there is nothing to do'))
})

test('steps that take long become short ones, and others go on between them', async () => {
  let others = 0
  const other = setInterval(() => others++, 0)
  const lengths: number[] = []
  await evaluation().inSteps(400, (from, to) => {
    lengths.push(to - from)
    const until = performance.now() + 0.5 * (to - from)
    while (performance.now() < until);
  })
  clearInterval(other)
  assert.equal(Math.max(...lengths), 8)
  assert.ok(others > 5, `${others} turns of others`)
})

test('steps of the same pace go on with the length that they had come to', async () => {
  const pace = new Pace()
  const lengths: number[] = []
  await evaluation().inSteps(100_000, () => {}, pace)
  await evaluation().inSteps(600, (from, to) => lengths.push(to - from), pace)
  // However cheap items were: dear ones may follow.
  assert.deepEqual(lengths, [256, 256, 88])
  pace.took(8, 10)
  assert.equal(pace.step, 4)
})

test('steps end with their call', async () => {
  const over = new AbortController()
  let steps = 0
  const work = evaluation(over.signal).inSteps(1_000_000, () => {
    if (++steps === 3) over.abort(new Error('over'))
  })
  await assert.rejects(work, /over/)
  assert.equal(steps, 3)
})

test('work that begins together is done one after the other, and others go on between its pieces', async () => {
  const one = evaluation()
  const done: number[] = []
  let others = 0
  const other = setInterval(() => others++, 0)
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      one.inTurn(() => {
        const until = performance.now() + 2
        while (performance.now() < until);
        done.push(i)
        return 2 * i
      }),
    ),
  )
  clearInterval(other)
  assert.deepEqual(
    done,
    Array.from({ length: 40 }, (_, i) => i),
  )
  assert.deepEqual(
    results,
    done.map((i) => 2 * i),
  )
  assert.ok(others > 5, `${others} turns of others`)
})

test('work that fails does not keep what comes after it from being done', async () => {
  const one = evaluation()
  const failing = one.inTurn(() => {
    throw new Error('failed')
  })
  const next = one.inTurn(() => 'done')
  await assert.rejects(failing, /failed/)
  assert.equal(await next, 'done')
})
