import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openJournal, pointsRecord } from '../journal/journal.fixture.ts'
import { Snapshot } from '../snapshot.ts'
import { HeadCapture } from './head-capture.ts'
import { Heads } from './heads.ts'

const { signal } = new AbortController()

test('a read that lets others in goes on with the points that were in memory when it began', async (t) => {
  const { root } = openJournal(t)
  const heads = new Heads()
  heads.apply(pointsRecord([1, [1, 1]]))
  const snapshot = new Snapshot(root, signal)
  let asked = 0
  const capture = new HeadCapture(heads, snapshot, () => {
    asked++
    return [1, 2]
  })
  // In its first turn nobody else can have changed anything.
  assert.deepEqual([...capture.columns(1)!.times], [1])
  assert.equal(asked, 0)
  const resting = snapshot.rest()
  heads.apply(pointsRecord([1, [2, 2]], [2, [3, 3]]))
  heads.seal()
  heads.dropFolding(1)
  await resting
  assert.deepEqual([...capture.columns(1)!.times], [1])
  assert.equal(capture.columns(2), null)
  await snapshot.rest()
  assert.deepEqual([...capture.columns(1)!.times], [1])
  assert.equal(asked, 1)
  // Not one of those that it said it would ask for.
  assert.equal(capture.columns(3), null)
  snapshot.done()
})

test('a read that never lets others in sees what is in memory', async (t) => {
  const { root } = openJournal(t)
  const heads = new Heads()
  heads.apply(pointsRecord([1, [1, 1]]))
  const snapshot = new Snapshot(root, signal)
  const capture = new HeadCapture(heads, snapshot, () => assert.fail('nothing is captured'))
  assert.deepEqual([...capture.columns(1)!.times], [1])
  assert.equal(capture.columns(2), null)
})
