import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ascendingTags } from './ascending-tags.ts'

test('tags of any number of parts come ascending and once, as from a sorted set of all', () => {
  const tags = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })
  fc.assert(
    fc.property(fc.array(tags, { maxLength: 9 }), (lists) => {
      const sorted = lists.map((list) => list.toSorted((a, b) => a - b))
      const expected = [...new Set(lists.flat())].sort((a, b) => a - b)
      assert.deepEqual([...ascendingTags(sorted)], expected)
    }),
  )
})

test('no more of a part is read than was asked for', () => {
  let read = 0
  function* counted() {
    for (let tag = 1; tag < 1_000; tag++) {
      read++
      yield tag
    }
  }
  let taken = 0
  for (const _ of ascendingTags([counted(), counted(), counted()])) if (++taken === 10) break
  assert.ok(read <= 3 * 11, `${read} tags of three parts`)
})
