import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GroupedInserts } from './grouped-inserts.ts'

const context = { signal: new AbortController().signal }
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('inserts that are grouped', () => {
  test('what comes while one is under way goes together, in order, and one insert at a time', async () => {
    const sent: number[][] = []
    const held: (() => void)[] = []
    const inserts = new GroupedInserts<number>('plant', (items) => {
      sent.push([...items])
      return new Promise((resolve) => held.push(resolve))
    })
    const all = [inserts.add(1, 1, context), inserts.add(2, 1, context)]
    await tick()
    all.push(inserts.add(3, 1, context), inserts.add(4, 1, context), inserts.add(5, 1, context))
    await tick()
    assert.deepEqual(sent, [[1, 2]])
    held[0]!()
    await tick()
    assert.deepEqual(sent, [
      [1, 2],
      [3, 4, 5],
    ])
    held[1]!()
    await Promise.all(all)
  })

  test('a large change goes for itself', async () => {
    const sent: number[][] = []
    const inserts = new GroupedInserts<number>('plant', async (items) => {
      sent.push([...items])
    })
    await Promise.all([
      inserts.add(1, 900_000, context),
      inserts.add(2, 900_000, context),
      inserts.add(3, 5_000_000, context),
    ])
    assert.deepEqual(sent, [[1], [2], [3]])
  })

  test('an insert that fails fails for those in it and for no others', async () => {
    const inserts = new GroupedInserts<number>('plant', async ([first]) => {
      if (first === 1) throw new Error('no')
    })
    const failing = Promise.allSettled([inserts.add(1, 1, context), inserts.add(2, 1, context)])
    await tick()
    const after = inserts.add(3, 1, context)
    assert.deepEqual(
      (await failing).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    await after
  })

  test('who leaves is let go at once, and is not sent when it was still waiting', async () => {
    const sent: number[][] = []
    const held: (() => void)[] = []
    const inserts = new GroupedInserts<number>('plant', (items) => {
      sent.push([...items])
      return new Promise((resolve) => held.push(resolve))
    })
    const first = inserts.add(1, 1, context)
    await tick()
    const controller = new AbortController()
    const leaving = inserts.add(2, 1, { signal: controller.signal })
    const staying = inserts.add(3, 1, context)
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(leaving, (error) => error === reason)
    held[0]!()
    await tick()
    assert.deepEqual(sent, [[1], [3]])
    held[1]!()
    await Promise.all([first, staying])
  })

  test('work that wants the table alone waits for the insert, and the next insert for it', async () => {
    const order: string[] = []
    const inserts = new GroupedInserts<string>('plant', async ([item]) => {
      order.push(`${item} begins`)
      await tick()
      order.push(`${item} ends`)
    })
    const first = inserts.add('a', 1, context)
    await null
    await null
    const alone = inserts.alone(async () => {
      order.push('alone')
    })
    const second = inserts.add('b', 1, context)
    await Promise.all([first, alone, second])
    assert.deepEqual(order, ['a begins', 'a ends', 'alone', 'b begins', 'b ends'])
  })

  test('more than may wait is refused with the name of the historian', async () => {
    const inserts = new GroupedInserts<number>('plant', () => new Promise(() => {}))
    inserts.add(1, 15_000_000, context).catch(() => {})
    await assert.rejects(inserts.add(2, 6_000_000, context), /^TidemarkError: Historian plant /)
  })
})
