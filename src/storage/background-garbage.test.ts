import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectWhereMuchIsLeft } from './background-garbage.ts'

test('a thread that is done collects its garbage where it has left much, and only there', () => {
  let collections = 0
  const after = (megabytes: number) => {
    collectWhereMuchIsLeft(
      () => megabytes * 2 ** 20,
      () => collections++,
    )
    return collections
  }
  assert.equal(after(4), 0)
  assert.equal(after(100), 1)
  assert.equal(after(4), 1)
})
