import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()

function pointsAt(count: number) {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) points.times[i] = i
  return points
}

test('dry runs of deletions wait for no change that is under way, and count what the deletions then remove', async (t) => {
  const limits = { reserveBytes: 0, idleMergeAfterMs: 1e9 }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  const put = (tags: readonly string[], count: number) => {
    const points = pointsAt(count)
    const entries = tags.map((tag) => ({ tag, points }))
    return store.write(writeBatch(entries, true), signal)
  }
  await put(['a', 'b'], 100)
  await store.flush()
  await store.deletePoints([{ tag: 'a', from: 10, to: 20 }], false, signal)
  const ranges = [
    { tag: 'a', from: 5, to: 15 },
    { tag: 'b', from: 50, to: 60 },
    { tag: 'missing', from: 0, to: 100 },
    { tag: 'a', from: 0, to: 30 },
  ]
  const ended: string[] = []
  const note = (what: string) => () => void ended.push(what)
  const many = Array.from({ length: 20_000 }, (_, i) => `tag ${i}`)
  const writing = put(many, 1).then(note('write'))
  const counts = store.deletePoints(ranges, true, signal)
  const ofTags = store.deleteTags(['b', 'a'], true, signal)
  const missing = store.deleteTags(['a', 'missing'], true, signal)
  await Promise.all([
    writing,
    counts.then(note('points')),
    ofTags.then(note('tags')),
    assert.rejects(missing, { code: 'TAG_NOT_FOUND' }).then(note('missing')),
  ])
  assert.equal(ended.at(-1), 'write')
  assert.deepEqual(await ofTags, [100, 90])
  assert.deepEqual(await counts, [5, 10, 0, 15])
  assert.deepEqual(await store.deletePoints(ranges, false, signal), await counts)
})

const TAGS = ['a', 'b', 'c', 'd']
const span = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 20 }))
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('write' as const), tag: fc.constantFrom(...TAGS), span }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('cut' as const), tag: fc.constantFrom(...TAGS), span }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), tag: fc.constantFrom(...TAGS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
)

test('a deletion of tags counts the points that each of them has, wherever they are', async (t) => {
  const limits = { reserveBytes: 0, idleMergeAfterMs: 1e9 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
      const model = new Map<string, Set<number>>()
      for (const one of steps) {
        if (one.kind === 'flush') {
          await store.flush()
          continue
        }
        const { kind, tag } = one
        if (kind === 'remove') {
          if (model.has(tag)) await store.deleteTags([tag], false, signal)
          model.delete(tag)
          continue
        }
        const [from, length] = one.span
        if (kind === 'cut') {
          await store.deletePoints([{ tag, from, to: from + length }], false, signal)
          for (let time = from; time < from + length; time++) model.get(tag)?.delete(time)
          continue
        }
        const points = makeColumns(length)
        for (let i = 0; i < length; i++) points.times[i] = from + i
        await store.write(writeBatch([{ tag, points }], true), signal)
        const times = model.getOrInsertComputed(tag, () => new Set())
        for (const time of points.times) times.add(time)
      }
      const names = [...model.keys()]
      const wanted = names.map((name) => model.get(name)!.size)
      assert.deepEqual(await store.deleteTags(names, true, signal), wanted)
      assert.deepEqual(await store.deleteTags(names, false, signal), wanted)
      await store.close()
    }),
    { numRuns: 60 },
  )
})
