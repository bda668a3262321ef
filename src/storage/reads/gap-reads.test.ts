import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { sliceColumns } from '../../series/columns.ts'
import { GapFinder } from '../../series/gaps.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { points } from './plot-points.fixture.ts'

const { signal } = new AbortController()

test('gaps from summaries are those between all points, whatever the range', async (t) => {
  const log = { info() {}, warn() {}, error() {} }
  const store = await openFileStore(temporaryFolder(t), { historian: 'plant', owner: true, log })
  t.after(() => store.close())
  const all = points(120_000)
  await store.write(writeBatch([{ tag: 'a', points: all }], true), signal)
  await store.flush()
  const { times } = all
  for (const [first, end] of [
    [0, 120_000],
    [7, 46_500],
    [46_500, 84_000],
    [81_000, 84_000],
    [31_000, 31_001],
  ] as const) {
    for (const longerThanUs of [999_999, 1_000_000, 1_500_000, 2_000_000, 12_000_000, 4_000_000_000]) {
      for (const limit of [1, 50, 1_000_000]) {
        const search = {
          from: times[first]! - 3,
          to: (times[end] ?? times.at(-1)! + 1) + 5,
          longerThanUs,
          limit,
        }
        const inside = all.times.findIndex((time) => time >= search.to)
        const finder = new GapFinder(search)
        finder.add(sliceColumns(all, first, inside < 0 ? times.length : inside))
        const [found] = await store.readGaps([{ tag: 'a', ...search }], signal)
        assert.deepEqual(found, finder.finish(), JSON.stringify(search))
      }
    }
  }
})
