import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { signal } from '../../../test/durability/workload.ts'
import {
  CONSEQUENCE,
  contentOf,
  harmRecord,
  live,
  repair,
  segmentsIn,
  write,
} from './repaired-log.fixture.ts'

test('points of a tag whose making is lost are those of a tag with a new name, and of no other one', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    await write(store, 'a', 1)
    await write(store, 'b', 1)
    await write(store, 'b', 2)
    await write(store, 'a', 3)
  })
  harmRecord(segmentsIn(folder)[0]!, 1)
  const { lost } = await repair(folder)
  assert.equal(lost.at(-1), 'the name of a tag that has points: it is recovered-2 now')
  assert.deepEqual(await contentOf(folder), { a: [1, 3], 'recovered-2': [2] })
  await live(folder, (store) => write(store, 'b', 5))
  assert.deepEqual(await contentOf(folder), { a: [1, 3], b: [5], 'recovered-2': [2] })
})

test('a tag whose making is lost has its name back where a later record says it, and stays deleted', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'c']) await write(store, tag, 1)
    await write(store, 'c', 2)
    await store.renameTags([{ from: 'a', to: 'd' }], false, signal)
    await store.deleteTags(['c'], false, signal)
  })
  const [path] = segmentsIn(folder)
  harmRecord(path!, 0)
  harmRecord(path!, 2)
  await repair(folder)
  assert.deepEqual(await contentOf(folder), { b: [1], d: [] })
  // The ids of both stay taken.
  await live(folder, (store) => write(store, 'e', 5))
  assert.deepEqual(await contentOf(folder), { b: [1], d: [], e: [5] })
})

for (const how of ['renamed', 'deleted'] as const) {
  test(`a tag that a lost record has ${how} gets another name where a later tag has its own`, async (t) => {
    const folder = temporaryFolder(t)
    await live(folder, async (store) => {
      await write(store, 'a', 1)
      await store.flush()
      if (how === 'renamed') await store.renameTags([{ from: 'a', to: 'b' }], false, signal)
      else await store.deleteTags(['a'], false, signal)
      await write(store, 'a', 2)
    })
    harmRecord(segmentsIn(folder)[0]!, 0)
    const { lost } = await repair(folder)
    const what = 'what became of a tag a, before another one got its name: it is recovered-1 now'
    assert.equal(lost.at(-1), what)
    assert.deepEqual(await contentOf(folder), { a: [2], 'recovered-1': [1] })
  })
}

test('tags that exchanged their names, or got those of others in turn, keep them', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'lost']) await write(store, tag, tag === 'a' ? 1 : 2)
    await store.renameTags([{ from: 'a', to: 'c' }], false, signal)
    await store.renameTags([{ from: 'b', to: 'a' }], false, signal)
    await store.renameTags([{ from: 'c', to: 'b' }], false, signal)
  })
  harmRecord(segmentsIn(folder)[0]!, 2)
  assert.equal((await repair(folder)).lost.length, 2)
  assert.deepEqual(await contentOf(folder), { a: [2], b: [1] })
})

test('points that a lost record deleted are back, and it is said that they may be', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const time of [1, 2, 3]) await write(store, 'a', time)
    await store.flush()
    await store.deletePoints([{ tag: 'a', from: 1, to: 2 }], false, signal)
    await store.deletePoints([{ tag: 'a', from: 3, to: 4 }], false, signal)
  })
  harmRecord(segmentsIn(folder)[0]!, 0)
  const { lost } = await repair(folder)
  assert.match(lost.at(-1)!, CONSEQUENCE)
  assert.deepEqual(await contentOf(folder), { a: [1, 2] })
})
