import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mallocSettings } from './malloc-settings.ts'

test('a worker gets settings of malloc, but for those that the operator made', (t) => {
  const before = process.env.MALLOC_ARENA_MAX
  t.after(() => {
    if (before === undefined) delete process.env.MALLOC_ARENA_MAX
    else process.env.MALLOC_ARENA_MAX = before
  })
  delete process.env.MALLOC_ARENA_MAX
  assert.equal(mallocSettings().MALLOC_ARENA_MAX, '2')
  process.env.MALLOC_ARENA_MAX = '8'
  assert.ok(!('MALLOC_ARENA_MAX' in mallocSettings()))
})
