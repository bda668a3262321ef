import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep, TestClock } from '../../../test/property/retention-model.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { STATUS_BAD, STATUS_OK, type Status } from '../../series/columns.ts'
import type { FileStore } from './file-store.ts'
import { openFileStore } from './open-file-store.ts'

const SECOND = 1_000_000
const START = 1_700_000_000 * SECOND
const EVER = { from: -1e16, to: 1e16 }
const { signal } = new AbortController()

const open = async (t: TestContext) => {
  const clock = new TestClock(START)
  const store = await openFileStore(temporaryFolder(t), {
    historian: 'plant',
    owner: true,
    retention: { rules: [keep('a*', 60)], time: clock },
    limits: { reserveBytes: 0, unlinkAfterMs: 0, retentionEveryMs: 1e9, idleMergeAfterMs: 1e9 },
  })
  await store.retain()
  t.after(() => store.close())
  return { store, clock }
}

/** A point of each tag at each time, in seconds after the start. */
const batchOf = (tags: readonly string[], times: readonly number[], status: Status) => {
  const points = {
    times: Float64Array.from(times, (second) => START + second * SECOND),
    values: Float64Array.from(times, (second) => (status === STATUS_OK ? Math.sin(second) : 0)),
    statuses: new Uint8Array(times.length).fill(status),
  }
  const entries = tags.map((tag) => ({ tag, points }))
  return writeBatch(entries, true)
}

/** Writes them, and all that is in memory, to a part. */
const writePart = async (store: FileStore, ...points: Parameters<typeof batchOf>): Promise<void> => {
  await store.write(batchOf(...points), signal)
  await store.flush()
}

/** Seconds of the points of a tag, and the value that is held behind them, which is that of the last good one. */
const read = async (store: FileStore, tag: string) => {
  const [found] = await store.readRanges([{ tag, ...EVER, order: 'asc', limit: 1e6 }], signal)
  const [held] = await store.readBoundingValues([tag], Float64Array.of(START + 1e4 * SECOND), signal)
  const seconds = Array.from(found!.points.times, (time) => (time - START) / SECOND)
  return { seconds, held: held!.beforeValues[0] }
}

const manyTags = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`)
const manyTimes = (count: number) => Array.from({ length: count }, (_, i) => i / 1_000)

const cases: readonly (readonly [name: string, tags: readonly string[], times: readonly number[]])[] = [
  ['many tags with some points each', manyTags(100), [0, 1, 2, 3, 4, 5]],
  ['a tag with many points', ['a'], manyTimes(45_000)],
]

for (const [name, tags, times] of cases) {
  test(`good points that BAD ones replaced stay away when these have expired: ${name}`, async (t) => {
    const { store, clock } = await open(t)
    await writePart(store, tags, times, STATUS_OK)
    await writePart(store, tags, times, STATUS_BAD)
    assert.equal((await read(store, tags[0]!)).held, Number.NaN)
    clock.us += 200 * SECOND
    await store.retain()
    for (const tag of tags)
      assert.deepEqual(await read(store, tag), { seconds: [times.at(-1)], held: Number.NaN }, tag)
    assert.equal(store.measure().retention!.trimmedFiles, 2, 'the space of both goes')
    assert.equal(store.measure().retention!.removedPoints, 2 * (times.length - 1) * tags.length)
    assert.deepEqual((await store.check(signal)).problems, [])
  })
}

test('a good point before BAD ones stays the last good one, whichever part is trimmed', async (t) => {
  const { store, clock } = await open(t)
  // Most of the first part is of a tag that no rule matches, so that it is not trimmed.
  await store.write(batchOf(['other'], manyTimes(1_000), STATUS_OK), signal)
  await writePart(store, ['a'], [0, 1, 2, 3, 4], STATUS_OK)
  await writePart(store, ['a'], [2, 3, 4], STATUS_BAD)
  clock.us += 200 * SECOND
  await store.retain()
  assert.equal(store.measure().retention!.trimmedFiles, 1)
  assert.deepEqual(await read(store, 'a'), { seconds: [1, 4], held: Math.sin(1) })
  // The points that stayed are replaced by later ones.
  await writePart(store, ['a'], [190], STATUS_BAD)
  clock.us += 200 * SECOND
  await store.retain()
  assert.deepEqual(await read(store, 'a'), { seconds: [1, 190], held: Math.sin(1) })
  await writePart(store, ['a'], [390], STATUS_OK)
  clock.us += 200 * SECOND
  await store.retain()
  assert.deepEqual(await read(store, 'a'), { seconds: [390], held: Math.sin(390) })
  assert.deepEqual((await store.check(signal)).problems, [])
})
