import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs } from '../time/instant.ts'
import { sharedRanges } from './shared-ranges.ts'

function read(tag: string, from: number, to: number, count: number, isWhole = true) {
  return { tag, range: { from: instantFromUs(from), to: instantFromUs(to) }, count, isWhole }
}

function shown(reads: readonly ReturnType<typeof read>[]) {
  return sharedRanges(reads).map(({ tag, from, to, count, reads }) => [tag, from, to, count, reads.length])
}

test('ranges of a tag that overlap are one, ranges that touch and those of other tags are not', () => {
  assert.deepEqual(
    shown([read('A', 0, 10, 5), read('A', 5, 20, 7), read('A', 20, 30, 9), read('B', 0, 20, 1)]),
    [['A', 0, 20, null, 2]],
  )
})

test('a range that holds all others has been counted already', () => {
  assert.deepEqual(shown([read('A', 5, 10, 2), read('A', 0, 20, 7), read('A', 8, 20, 4)]), [
    ['A', 0, 20, 7, 3],
  ])
})

test('pages that overlap each other are told apart from those that do not', () => {
  const reads = [
    read('A', 0, 30, 20),
    read('A', 12, 16, 1, false),
    read('A', 2, 6, 2, false),
    read('A', 5, 8, 3, false),
    read('A', 8, 10, 4, false),
  ]
  const pages = sharedRanges(reads)[0]!.pages
  assert.deepEqual(
    pages.map((page) => page.map(({ count }) => count)),
    [[2, 3], [4], [1]],
  )
})

test('a page belongs to the range that holds it, and joins none', () => {
  const reads = [
    read('A', 0, 10, 5),
    read('A', 2, 4, 2, false),
    read('A', 5, 12, 3, false),
    read('A', 20, 30, 5),
  ]
  assert.deepEqual(shown(reads), [['A', 0, 10, 5, 2]])
})
