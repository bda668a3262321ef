import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { AppendFailed } from './device.ts'
import { bodyOf, expected, readBack, startLog } from './wal.fixture.ts'

test('a group does not count after a sync that the file system did without what it had in its journal', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  files.plan = (call) => (call === 'confirm' ? { code: 'EROFS' } : null)
  await assert.rejects(
    log.append([bodyOf(2)]),
    (error) => error instanceof AppendFailed && !error.isIntact && !error.wasWriting,
  )
  files.plan = () => null
  await log.append([bodyOf(9)])
  await log.append([bodyOf(10)])
  const asked = files.calls
  // Of the third, which is written over zeros, nothing is in the journal.
  files.plan = (call) => (call === 'confirm' ? { code: 'EROFS' } : null)
  await log.append([bodyOf(11)])
  assert.equal(files.calls, asked + 2, 'a write and a sync')
  assert.deepEqual(readBack(folder).records, [expected(9, 1), expected(10, 2), expected(11, 3)])
  await log.close()
})
