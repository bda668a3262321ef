import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns } from '../../series/columns.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { TagLists } from './tag-lists.ts'

const { signal } = new AbortController()

test('a list is known as long as it is the same array and the catalog the same', () => {
  const lists = new TagLists()
  const names = ['a', 'b']
  const ids = Uint32Array.of(1, 2)
  assert.equal(lists.find(names, 7), null)
  lists.remember(names, ids, 7)
  assert.equal(lists.find(names, 7), ids)
  assert.equal(lists.find(['a', 'b'], 7), null)
  assert.equal(lists.find(names, 8), null)
  lists.remember(names, ids, 8)
  for (let i = 0; i < 100; i++) lists.remember([`${i}`], Uint32Array.of(i), 8)
  assert.equal(lists.find(names, 8), ids)
})

test('the same list of tags is written to the tags that have the names at that time', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true })
  t.after(() => store.close())
  const tags = ['a', 'b']
  let time = 0
  const write = (createTags: boolean) => {
    const points = makeColumns(2)
    points.times.fill(++time)
    points.values.set([time, -time])
    return store.write({ tags, offsets: Uint32Array.of(0, 1, 2), points, createTags }, signal)
  }
  const read = async (tag: string) => {
    const query = { tag, from: 0, to: 1_000, order: 'asc', limit: 1_000 } as const
    return Array.from((await store.readRanges([query], signal))[0]!.points.values)
  }
  const isMissing = (error: unknown) => (error as { code?: unknown }).code === 'TAG_NOT_FOUND'
  await write(true)
  await write(false)
  await write(false)
  await store.renameTags([{ from: 'a', to: 'c' }], false, signal)
  await assert.rejects(write(false), isMissing)
  await write(true)
  await write(true)
  assert.deepEqual(await read('c'), [1, 2, 3])
  assert.deepEqual(await read('a'), [5, 6])
  assert.deepEqual(await read('b'), [-1, -2, -3, -5, -6])
  await store.deleteTags(['b'], false, signal)
  await assert.rejects(write(false), isMissing)
  // One of them makes the tag while the other one is in the same commit.
  await Promise.all([write(true), write(true)])
  await write(false)
  assert.deepEqual(await read('b'), [-8, -9, -10])
  assert.deepEqual(await read('a'), [5, 6, 8, 9, 10])
  assert.deepEqual((await store.check(signal)).problems, [])
})
