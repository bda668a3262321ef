import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tombstone } from './tombstone-columns.ts'
import { concatTombstones, MANY_TOMBSTONES, TombstonesOfTags } from './tombstones-of-tags.ts'

const listOf = (tag: number, count: number): readonly Tombstone[] =>
  Array.from({ length: count }, (_, i) => ({ tag, from: 2 * i, to: 2 * i + 1, sequence: i }))

test('many tombstones of a tag are the same list until the tag has others, few are made for each call', () => {
  const ofTags = new TombstonesOfTags()
  const make = (tag: number) => listOf(tag, tag)
  const many = ofTags.of(MANY_TOMBSTONES, make)
  assert.deepEqual(many, listOf(MANY_TOMBSTONES, MANY_TOMBSTONES))
  assert.equal(ofTags.of(MANY_TOMBSTONES, make), many)
  assert.notEqual(ofTags.of(1, make), ofTags.of(1, make))
  ofTags.forget(MANY_TOMBSTONES)
  assert.notEqual(ofTags.of(MANY_TOMBSTONES, make), many)
})

test('lists of more than half a million tombstones push out those before them', () => {
  const ofTags = new TombstonesOfTags()
  const make = (tag: number) => listOf(tag, 200_000)
  const first = ofTags.of(1, make)
  ofTags.of(2, make)
  assert.equal(ofTags.of(1, make), first)
  ofTags.of(3, make)
  assert.notEqual(ofTags.of(1, make), first)
})

test('two lists together are the same list each time where they are long, and one of them beside an empty one', () => {
  const older = listOf(1, MANY_TOMBSTONES)
  const newer = listOf(1, 2)
  const both = concatTombstones(older, newer)
  assert.deepEqual(both, [...older, ...newer])
  assert.equal(concatTombstones(older, newer), both)
  assert.deepEqual(concatTombstones(newer, newer), [...newer, ...newer])
  assert.equal(concatTombstones(older, []), older)
  assert.equal(concatTombstones([], newer), newer)
})
