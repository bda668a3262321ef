import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { signal } from '../../../test/durability/workload.ts'
import { historianDirectory, openDataDirectory } from '../directory/data-directory.ts'
import { type RepairedHistorian, repairDataDirectory } from './repair-data-directory.ts'
import { harmRecord, live, reportsIn, segmentsIn, write } from './repaired-log.fixture.ts'

test('what a historian lost is told before the next one is looked at, and counts as told only then', async (t) => {
  const data = join(temporaryFolder(t), 'data')
  await (await openDataDirectory(data, { owner: true })).close()
  const folders = ['a', 'b'].map((name) => historianDirectory(data, name))
  for (const folder of folders) {
    await live(folder, async (store) => {
      for (const tag of ['x', 'y', 'z']) await write(store, tag)
    })
    harmRecord(segmentsIn(folder)[0]!, 1)
  }
  const told: RepairedHistorian[] = []
  const reports: (readonly string[])[] = []
  const tell = (repaired: RepairedHistorian) => {
    told.push(repaired)
    reports.push(folders.flatMap(reportsIn))
  }
  await repairDataDirectory(data, tell, signal)
  assert.deepEqual(
    told.map(({ report, failure }) => [report?.lost.length, failure]),
    [
      [2, null],
      [2, null],
    ],
  )
  const name = 'repair-00000002.txt'
  assert.deepEqual(reports, [[`${name}.new`], [name, `${name}.new`]])
  assert.deepEqual(folders.flatMap(reportsIn), [name, name])
})
