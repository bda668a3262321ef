import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareNames } from '../../series/tag-names.ts'
import type { TagRecord } from '../catalog/tag-record.ts'
import { FirstInOrder } from './first-in-order.ts'

function record(name: string): TagRecord {
  return { id: 1, name, description: null, units: null, stepped: false }
}

/** Names in no order, each twice, some of them above the surrogates. */
function namesOf(count: number): readonly string[] {
  return Array.from({ length: 2 * count }, (_, i) => {
    const number = (i * 7_919) % count
    return `${number % 3 === 0 ? '\uffee' : '\u{1f600}'}${number}`
  })
}

test('the first records are those a sort of all gives, each name once, whatever the limit', async () => {
  const names = namesOf(700)
  const sorted = [...new Set(names)].sort(compareNames)
  for (const limit of [1, 2, 64, 200, 699, 700, 701, 5_000]) {
    const pace = { isDue: () => false, pause: async () => {} }
    const first = new FirstInOrder(limit)
    for (const name of names) {
      first.add(record(name))
      if (first.isFull) await first.trim(pace)
    }
    const found = await first.inOrder(pace)
    assert.deepEqual(
      found.map(({ name }) => name),
      sorted.slice(0, limit),
    )
  }
})

test('very many records are sorted in steps, between which others are let in', async () => {
  let pauses = 0
  const pace = {
    // So many steps have a pace look at the clock at once.
    isDue: (steps = 1) => steps >= 16,
    pause: async () => {
      pauses++
    },
  }
  const names = namesOf(40_000)
  const first = new FirstInOrder(100_000)
  for (const name of names) first.add(record(name))
  assert.equal(first.isFull, false)
  const found = await first.inOrder(pace)
  assert.deepEqual(
    found.map(({ name }) => name),
    [...new Set(names)].sort(compareNames),
  )
  // 40 runs of 2,048, and 6 rounds in which they are merged.
  assert.ok(pauses > 200, `${pauses} pauses`)
})
