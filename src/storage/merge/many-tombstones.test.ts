import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns } from '../../series/columns.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { MERGE_LIMITS } from './merge.ts'
import { startMerger } from './merge-thread.ts'

/** As objects, those of two parts are more than the heap of the thread holds. */
const TAGS = 1_000_000
const EVER = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** A part with a point of tag 5, and a tombstone of each tag. */
function writeDeletions(store: PartStore, sequence: number): Promise<PartInfo> {
  const writer = store.create(`${sequence}.part`, {
    firstSequence: sequence,
    lastSequence: sequence,
    replaces: [],
  })
  const points = makeColumns(1)
  points.times[0] = sequence
  writer.add(5, points)
  for (let tag = TAGS; tag > 0; tag--) writer.addTombstone({ tag, ...EVER, sequence })
  return writer.finish()
}

test('parts with the deletion of a million tags each are merged in the memory of the thread of merges', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 1 << 20 })
  const inputs = [await writeDeletions(store, 10), await writeDeletions(store, 20)]
  const merger = startMerger()
  t.after(() => merger.close())
  const order = {
    folder,
    inputs,
    // One that cannot be opened may have points of any tag.
    others: [{ ...inputs[0]!, name: '5.part', firstSequence: 5, lastSequence: 5 }],
    tombstones: [],
    expired: null,
    namePrefix: 'm',
    firstNumber: 1,
    limits: MERGE_LIMITS,
  }
  const { added } = await merger.merge(order, new AbortController().signal)
  assert.equal(added.length, 1)
  assert.deepEqual([added[0]!.points, added[0]!.tombstones], [1, TAGS])
  const part = store.open(added[0]!)
  for (const tag of [1, 5, TAGS]) assert.deepEqual(part.tombstones.of(tag), [{ tag, ...EVER, sequence: 20 }])
  part.close()
})
