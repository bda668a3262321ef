import assert from 'node:assert/strict'
import { test } from 'node:test'
import { US_PER_HOUR, US_PER_MINUTE } from '../../time/instant.ts'
import { contentKey } from './need.ts'

const NOON = 1_768_478_400_000_000

test('equal times have the same key', () => {
  const times = [NOON, NOON + 1, NOON + 2, NOON + 3]
  assert.equal(contentKey(Float64Array.from(times)), contentKey(Float64Array.from(times)))
})

test('different times have different keys, early ones and those of one grid moved on too', () => {
  for (const [start, step] of [
    [0, 1],
    [0, 1_000],
    [0, US_PER_MINUTE],
    [-NOON, 1_024],
    [NOON, 1],
    [NOON, US_PER_HOUR],
  ] as const) {
    for (const length of [4, 9]) {
      const keys = new Set<number>()
      for (let n = 0; n < 10_000; n++) {
        keys.add(contentKey(Float64Array.from({ length }, (_, i) => start + (n + i) * step)))
      }
      assert.equal(keys.size, 10_000, `${length} times ${step} us apart from ${start} on`)
    }
  }
})

test('different last times have different keys', () => {
  const keys = new Set<number>()
  for (let n = 0; n < 100_000; n++) keys.add(contentKey(Float64Array.of(0, 1, 2, 3, 4 + n)))
  assert.equal(keys.size, 100_000)
})
