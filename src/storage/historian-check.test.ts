import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { writeBatch } from '../historian/write-batch.ts'
import { makeColumns } from '../series/columns.ts'
import { openHistorianStore } from './open-historian.ts'

const { signal } = new AbortController()

/** Sums over these depend on the order in which they are added: on the way they overflow or not, or are rounded to 0 or not. */
const EXTREMES: readonly (readonly number[])[] = [
  [Number.MAX_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE, -Number.MAX_VALUE, 1],
  [Number.MAX_VALUE, 1, -Number.MAX_VALUE],
  [1e200, -1e200, 3],
  [Number.MIN_VALUE, 0],
  [1e-300, -Number.MIN_VALUE, 1e-310],
]

test('values at the bounds of doubles are not taken for damage', async (t) => {
  const store = await openHistorianStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  // Points merged in later leave chunks of other lengths, whose summaries are joined.
  for (const offset of [0, 3]) {
    const entries = EXTREMES.map((values, index) => {
      const points = makeColumns(1_100)
      for (let i = 0; i < 1_100; i++) {
        points.times[i] = i * 28 + offset
        points.values[i] = values[i % values.length]!
      }
      return { tag: `extreme ${index}`, points }
    })
    await store.write(writeBatch(entries, true), signal)
    await store.fold()
  }
  assert.deepEqual((await store.check(signal)).problems, [])
})
