import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENGINE_LIMITS, unlinkAfter } from './engine-limits.ts'

test('files stay for the calls that may need them: the deadline and 30 s, an hour at most', () => {
  assert.equal(unlinkAfter(30), ENGINE_LIMITS.unlinkAfterMs)
  assert.equal(unlinkAfter(0.5), 30_500)
  assert.equal(unlinkAfter(300), 330_000)
  assert.equal(unlinkAfter(Number.MAX_SAFE_INTEGER), 3_600_000)
})
