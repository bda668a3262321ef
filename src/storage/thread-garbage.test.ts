import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ThreadGarbage } from './thread-garbage.ts'

test('a thread collects its garbage when it has nothing more to do, or has left much', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let bytes = 5_000_000
  let collections = 0
  const garbage = new ThreadGarbage(
    () => bytes,
    () => collections++,
  )
  for (let part = 0; part < 5; part++) {
    garbage.begin()
    garbage.end()
    t.mock.timers.tick(2_500)
  }
  assert.equal(collections, 0)
  t.mock.timers.tick(5_000)
  assert.equal(collections, 1)
  t.mock.timers.tick(10_000)
  assert.equal(collections, 1)
  bytes = 50_000_000
  garbage.begin()
  garbage.end()
  assert.equal(collections, 2)
  t.mock.timers.tick(10_000)
  assert.equal(collections, 2)
})
