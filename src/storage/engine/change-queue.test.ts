import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ChangeQueue } from './change-queue.ts'

const signal = new AbortController().signal

test('what arrives during a commit shares the next one, as far as it may', async () => {
  const groups: string[][] = []
  const queue = new ChangeQueue<string>(
    (item) => (item === 'alone' ? Number.POSITIVE_INFINITY : 1),
    3,
    async (group) => {
      groups.push([...group])
      await setImmediate()
      return group.map(() => null)
    },
  )
  const first = queue.add('a', signal)
  await null
  await null
  await Promise.all([first, ...['b', 'c', 'd', 'e', 'alone', 'f'].map((item) => queue.add(item, signal))])
  assert.deepEqual(groups, [['a'], ['b', 'c', 'd'], ['e'], ['alone'], ['f']])
})

test('each of very many changes that wait is looked at about once before its commit', async () => {
  const COUNT = 20_000
  let looks = 0
  const groups: number[] = []
  const queue = new ChangeQueue<number>(
    (item) => {
      looks++
      return item
    },
    COUNT / 2,
    async (group) => {
      groups.push(group.length)
      return group.map(() => null)
    },
  )
  await Promise.all(Array.from({ length: COUNT }, () => queue.add(1, new AbortController().signal)))
  assert.deepEqual(groups, [COUNT / 2, COUNT / 2])
  assert.ok(looks <= COUNT + groups.length, `${looks} looks`)
})

test('a failure is that of its item, and a failed commit that of its group', async () => {
  const queue = new ChangeQueue<string>(
    () => 1,
    Number.POSITIVE_INFINITY,
    async (group) => {
      if (group.includes('all')) throw new Error('commit')
      return group.map((item) => (item === 'bad' ? new Error('item') : null))
    },
  )
  const outcomes = await Promise.allSettled(['good', 'bad'].map((item) => queue.add(item, signal)))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
  const failed = await Promise.allSettled(['good', 'all'].map((item) => queue.add(item, signal)))
  assert.deepEqual(
    failed.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
    ['commit', 'commit'],
  )
})

test('a change that waits is withdrawn when it is aborted, and one under way is not', async () => {
  const committed: string[] = []
  const queue = new ChangeQueue<string>(
    () => 1,
    1,
    async (group) => {
      await setImmediate()
      committed.push(...group)
      return group.map(() => null)
    },
  )
  const controller = new AbortController()
  const reason = new Error('enough')
  const underWay = queue.add('under way', controller.signal)
  const waiting = queue.add('waiting', controller.signal)
  await null
  await null
  controller.abort(reason)
  await assert.rejects(waiting, reason)
  await underWay
  await assert.rejects(queue.add('late', controller.signal), reason)
  await queue.idle()
  assert.deepEqual(committed, ['under way'])
})
