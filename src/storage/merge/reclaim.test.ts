import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo, Tombstone } from '../parts/part.ts'
import { writePart } from '../parts/parts.fixture.ts'
import { TombstoneList } from '../parts/tombstone-list.ts'
import { inlineMerger } from './inline-merger.ts'
import { MERGE_LIMITS } from './merge.ts'
import { coveredShare } from './reclaim.ts'

const never = new AbortController().signal
const EVER = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** A point every second from 0 on. */
function noise(count: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = i * 1_000_000
    points.values[i] = ((i * 7_919) % 10_007) / 7
  }
  return points
}

test('what tombstones cover of a part is known, and gone when it was merged by itself', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 1 << 20 })
  const runs = [1, 2, 3, 4].map((tag) => [tag, noise(tag < 3 ? 100 : 20_000)] as const)
  const info = await writePart(store, '1.part', { runs, tombstones: [] }, [5, 9])
  const share = async (part: PartInfo, tombstones: readonly Tombstone[]) => {
    const open = store.open(part)
    const found = await coveredShare(open, [TombstoneList.of(tombstones)], never)
    open.close()
    return found
  }
  const all = 40_200
  assert.equal(await share(info, []), 0)
  // Not newer than the part, and of a tag that it has not.
  assert.equal(
    await share(info, [
      { tag: 3, ...EVER, sequence: 9 },
      { tag: 7, ...EVER, sequence: 10 },
    ]),
    0,
  )
  assert.equal(await share(info, [{ tag: 3, ...EVER, sequence: 10 }]), 20_000 / all)
  assert.equal(await share(info, [{ tag: 1, from: 0, to: 30_000_000, sequence: 10 }]), 30 / all)
  // Twice the same span counts once.
  const twice = [10, 11].map((sequence) => ({ tag: 2, from: 0, to: 10_000_000, sequence }))
  assert.equal(await share(info, twice), 10 / all)
  const amid = { tag: 4, from: 2_000_000_000, to: 18_000_000_000, sequence: 12 }
  const found = await share(info, [amid])
  assert.ok(found > 8_000 / all && found <= 16_000 / all, `${found}`)

  const order = {
    folder,
    inputs: [info],
    others: [],
    expired: null,
    namePrefix: 'm',
    firstNumber: 1,
    limits: MERGE_LIMITS,
  }
  const tombstones = [amid, { tag: 3, ...EVER, sequence: 10 }, ...twice]
  const { added } = await inlineMerger(systemFiles).merge(
    { ...order, tombstones: [TombstoneList.of(tombstones).columns] },
    never,
  )
  assert.equal(added[0]!.points, all - 20_000 - 16_000 - 10)
  assert.ok(added[0]!.bytes < info.bytes / 4)
  assert.equal(await share(added[0]!, tombstones), 0)
})
