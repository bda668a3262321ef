import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { makeColumns } from '../series/columns.ts'
import { standBack } from './background-priority.ts'
import { systemFiles } from './files/system-files.ts'
import { MERGE_LIMITS } from './merge/merge.ts'
import { startMerger } from './merge/merge-thread.ts'
import { openPartStore } from './parts/file-part-store.ts'
import { startPacker } from './parts/pack-thread.ts'
import { writePart } from './parts/parts.fixture.ts'

/** Ids of the threads of this process that are nicer than the process; none where threads have no priority. */
function nicerThreads(): number[] {
  if (process.platform !== 'linux') return []
  const own = getPriority()
  return systemFiles
    .list('/proc/self/task')
    .map(Number)
    .filter((id) => getPriority(id) > own)
}

test('the threads of merges and of packing stand back, and no other thread does', async (t) => {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 0 })
  const points = makeColumns(1)
  const content = { runs: [[1, points] as const], tombstones: [] }
  const inputs = [
    await writePart(store, '1.part', content, [1, 1]),
    await writePart(store, '2.part', content, [2, 2]),
  ]
  assert.deepEqual(nicerThreads(), [])
  const merger = startMerger()
  t.after(() => merger.close())
  const order = {
    folder,
    inputs,
    others: [],
    tombstones: [],
    expired: null,
    namePrefix: '9-',
    firstNumber: 1,
  }
  const { added } = await merger.merge({ ...order, limits: MERGE_LIMITS }, new AbortController().signal)
  assert.equal(added[0]?.points, 1)
  const nicer = nicerThreads()
  assert.equal(nicer.length, process.platform === 'linux' ? 1 : 0)
  assert.ok(!nicer.includes(process.pid))
  const packer = startPacker(folder)
  t.after(() => packer.close())
  const packing = packer.begin('3.part', { firstSequence: 1, lastSequence: 1, replaces: [] })
  const batch = await packing.batch()
  batch.add(points, 0, 1)
  batch.endEntry(1)
  packing.add(batch, false)
  assert.equal((await packing.finish()).points, 1)
  assert.equal(nicerThreads().length, 2 * nicer.length)
  assert.ok(!nicerThreads().includes(process.pid))
})

test('where threads have no priority of their own the process keeps its priority', () => {
  const before = getPriority()
  standBack(5, 'darwin')
  assert.equal(getPriority(), before)
})
