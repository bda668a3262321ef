import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { PlotSampler } from '../../series/plot.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { points } from './plot-points.fixture.ts'

/** Good points are a second apart but where there are BAD ones, and in a part up to 1.9 s. */
const GAPS = [
  { stepped: false },
  { stepped: true, maxGapUs: 10_000_000 },
  { stepped: false, maxGapUs: 1_500_000 },
  { stepped: true, maxGapUs: 1_000_000 },
]

const { signal } = new AbortController()

test('plots from summaries and chunks are those of all points, whatever the edges and the blocks', async (t) => {
  const log = { info() {}, warn() {}, error() {} }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, log })
  t.after(() => store.close())
  const all = points(120_000)
  await store.write(writeBatch([{ tag: 'a', points: all }], true), signal)
  await store.flush()
  // Points of later writes lie over blocks, in another part and in memory.
  for (const [from, size, flushes] of [
    [50_000, 700, true],
    [90_000, 3, true],
    [10_000, 40, false],
  ] as const) {
    const over = makeColumns(size)
    for (let i = 0; i < size; i++) {
      over.times[i] = all.times[from + i]!
      all.values[from + i] = (i % 7) - 3
      over.values[i] = all.values[from + i]!
      all.statuses[from + i] = 0
    }
    await store.write(writeBatch([{ tag: 'a', points: over }], false), signal)
    if (flushes) await store.flush()
  }
  const last = all.times.at(-1)!
  for (const columns of [1, 2, 5, 9, 60, 333, 2_000]) {
    for (const first of [-5e9, 0, 1_234_567, all.times[7_000]!, all.times[512]!]) {
      const edges = Float64Array.from({ length: columns + 1 }, (_, i) =>
        Math.floor(first + (i * (last - first + (columns === 9 ? 0 : 9e9))) / columns),
      )
      for (const gaps of GAPS) {
        const plot = new PlotSampler(edges, { gaps })
        plot.add(all)
        const expected = plot.finish()
        const [found] = await store.readPlots([{ tag: 'a', edges, ...gaps }], signal)
        const what = `${columns} columns from ${first}, gaps ${gaps.maxGapUs}`
        assert.deepEqual(found!.points, expected.points, what)
        assert.equal(found!.sampled, expected.sampled, what)
      }
    }
  }
})
