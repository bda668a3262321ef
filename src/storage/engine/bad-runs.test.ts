import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns, STATUS_BAD } from '../../series/columns.ts'
import { instantFromUs } from '../../time/instant.ts'
import { LargeRun } from '../parts/runs.ts'
import { readBoundingValues } from '../reads/point-reads.ts'
import { keptInSlices, keptPoints } from '../retention/kept-points.ts'
import { EngineSnapshot } from './engine-snapshot.ts'
import { isIn, layer, PACE, type Point, sourceOf, TIMES, toPoints } from './layered-blocks.fixture.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import { openFileStore } from './open-file-store.ts'
import type { Source } from './sources.ts'

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

test('good points beside an instant, and those that retention keeps, are those of all layers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(layer, { maxLength: 5 }),
      fc.array(fc.nat(TIMES + 3)),
      async (layers, asked) => {
        const model = new Map<number, Point>()
        const sources: Source[] = []
        for (const content of layers) {
          const { source, cuts } = sourceOf(content)
          sources.push(source)
          for (const one of content.points) if (!isIn(cuts, one[0])) model.set(one[0], one)
        }
        const all = [...model.values()].sort((a, b) => a[0] - b[0])
        const good = all.filter(([, , status]) => status !== STATUS_BAD)
        const times = Float64Array.from(new Set(asked)).sort()
        const found = await readBoundingValues(new LayeredBlocks(sources), times, PACE)
        for (const [i, at] of times.entries()) {
          const [before, after] = [good.findLast(([time]) => time <= at), good.find(([time]) => time >= at)]
          assert.equal(found.beforeTimes[i], before?.[0] ?? Number.NaN, `before ${at}`)
          assert.equal(found.afterTimes[i], after?.[0] ?? Number.NaN, `after ${at}`)
          if (before !== undefined) assert.equal(found.beforeValues[i], before[1])
          if (after !== undefined) assert.equal(found.afterValues[i], after[1])
          const newest = all.findLast(([time]) => time <= at)
          const kept = [...new Set([before, newest])].filter((one) => one !== undefined)
          const blocks = () => new LayeredBlocks(sources)
          assert.deepEqual(toPoints(keptPoints(blocks(), at)), kept, `kept at ${at}`)
          assert.deepEqual(toPoints(await keptInSlices(blocks(), at, PACE)), kept)
        }
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? 400) },
  )
})

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
