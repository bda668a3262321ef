import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns } from '../../series/columns.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import { writePart } from '../parts/parts.fixture.ts'
import { standBack } from './background-priority.ts'
import { MERGE_LIMITS } from './merge.ts'
import { startMerger } from './merge-thread.ts'

/** Ids of the threads of this process that are nicer than the process; none where threads have no priority. */
function nicerThreads(): number[] {
  if (process.platform !== 'linux') return []
  const own = getPriority()
  return systemFiles
    .list('/proc/self/task')
    .map(Number)
    .filter((id) => getPriority(id) > own)
}

test('the thread of merges stands back, and no other thread does', async (t) => {
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
})

test('where threads have no priority of their own the process keeps its priority', () => {
  const before = getPriority()
  standBack('darwin')
  assert.equal(getPriority(), before)
})
