import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { settleEnd } from './settle-end.ts'
import { bodyOf, readBack, startLog } from './wal.fixture.ts'

const NAME = '00000001-00000001.wal'

test('the last group of an owner that is gone is written again before it is accepted, its sync may have failed', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  await log.append([bodyOf(1)])
  await log.append([bodyOf(2), bodyOf(3)])
  const published = log.position
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  await assert.rejects(log.append([bodyOf(4)]))
  await log.close()
  const { records, segments } = readBack(folder)
  assert.equal(records.length, 4)
  const whole = readFileSync(join(folder, NAME))

  const calls: string[] = []
  files.plan = (call) => {
    calls.push(call)
    return null
  }
  settleEnd(files, folder, 1, segments, published)
  assert.deepEqual(calls, ['open', 'read', 'open', 'write', 'sync', 'confirm'])
  assert.deepEqual(readFileSync(join(folder, NAME)), whole)

  // A disk that takes it no better now has it accepted by nobody.
  for (const failing of ['write', 'sync', 'confirm']) {
    files.plan = (call) => (call === failing ? { code: 'EIO' } : null)
    assert.throws(() => settleEnd(files, folder, 1, segments, null), { code: 'EIO' })
  }
})

test('what was published is on disk, and what an earlier owner wrote was settled before', async (t) => {
  const folder = temporaryFolder(t)
  const log = startLog(folder)
  await log.append([bodyOf(1)])
  await log.close()
  const { segments } = readBack(folder)
  const files = new FailingFiles(systemFiles, () => ({ code: 'EIO' }))
  settleEnd(files, folder, 1, segments, log.position)
  settleEnd(files, folder, 1, [], null)
  settleEnd(files, folder, 2, segments, null)
})
