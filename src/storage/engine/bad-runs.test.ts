import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns, STATUS_BAD } from '../../series/columns.ts'
import { instantFromUs } from '../../time/instant.ts'
import { LargeRun } from '../parts/runs.ts'
import { EngineSnapshot } from './engine-snapshot.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const COUNT = 600_000
const limits = {
  flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
  merge: { partitionBytes: 1e12, fanIn: 1e6, largestBytes: 1e12 },
  reserveBytes: 0,
}

/** So many points from an instant on, all good or all BAD. */
function run(from: number, count: number, isBad: boolean) {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) points.times[i] = from + 10 * i
  points.values.fill(from)
  if (isBad) points.statuses.fill(STATUS_BAD)
  return writeBatch([{ tag: 'A', points }], true)
}

test('blocks of a long run of BAD points are passed over by their summaries', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  await store.write(run(0, 1, false), signal)
  await store.write(run(10, COUNT, true), signal)
  const last = 10 + 10 * COUNT
  await store.write(run(last, 1, false), signal)
  await store.flush()
  const open = t.mock.method(LargeRun.prototype, 'open')
  const times = Float64Array.of(last / 2 - 5, last / 2)
  const [found] = await store.readBoundingValues(['A'], times, signal)
  assert.deepEqual(found!.beforeTimes, Float64Array.of(0, 0))
  assert.deepEqual(found!.afterTimes, Float64Array.of(last, last))
  assert.ok(open.mock.callCount() <= 4, `${open.mock.callCount()} blocks`)
})

test('good points that BAD ones have replaced let others in while good ones are looked for', async (t) => {
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, limits })
  t.after(() => store.close())
  await store.write(run(0, COUNT, false), signal)
  await store.flush()
  await store.write(run(10, COUNT - 1, true), signal)
  await store.flush()
  let pauses = 0
  t.mock.method(EngineSnapshot.prototype, 'isDue', () => true)
  t.mock.method(EngineSnapshot.prototype, 'pause', async () => {
    pauses++
  })
  const at = 20 * COUNT
  const [found] = await store.readBoundingValues(['A'], Float64Array.of(at), signal)
  assert.deepEqual(found!.beforeTimes, Float64Array.of(0))
  assert.ok(pauses > 20, `${pauses} pauses for some forty blocks`)
  const query = { tag: 'A', times: Float64Array.of(at), stepped: true, holdUntil: instantFromUs(2 * at) }
  assert.deepEqual(await store.readInterpolated([query], signal), [Float64Array.of(0)])
})
