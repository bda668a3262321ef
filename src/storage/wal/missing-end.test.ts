import assert from 'node:assert/strict'
import { truncateSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { bodyOf, expected, readBack, startLog, versionOf } from './wal.fixture.ts'

const [FIRST, SECOND] = ['00000001-00000001.wal', '00000001-00000002.wal']

/** A log whose record 2 failed in the first segment, and was acknowledged as another one in the second. */
async function failedAndAcknowledged(t: TestContext) {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  await log.append([bodyOf(1)])
  const { offset } = log.position
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  await assert.rejects(log.append([bodyOf(20)]))
  files.plan = () => null
  await log.append([bodyOf(2)])
  const published = log.position
  await log.close()
  return { folder, published, offset }
}

for (const [how, harm] of [
  ['missing', unlinkSync],
  ['empty', (path: string) => truncateSync(path, 0)],
] as const) {
  test(`a group whose sync failed does not stand for what was acknowledged in a segment that is ${how}`, async (t) => {
    const { folder, published } = await failedAndAcknowledged(t)
    harm(join(folder, SECOND))
    assert.deepEqual(readBack(folder, versionOf(1), published).damages, ['segment 2 of the log is missing'])
  })
}

test('a segment with nothing but its header says where the one before it ends, and is damaged', async (t) => {
  const { folder, published } = await failedAndAcknowledged(t)
  truncateSync(join(folder, SECOND), 64)
  const { records, damages } = readBack(folder, versionOf(1), published)
  assert.deepEqual(records, [expected(1)])
  assert.match(damages[0] ?? '', /^bytes 64 to \d+ of a segment of the log cannot be read$/)
})

test('a published segment is not missed once its records are flushed, nor one of an owner without groups', async (t) => {
  const { folder, published } = await failedAndAcknowledged(t)
  unlinkSync(join(folder, FIRST))
  unlinkSync(join(folder, SECOND))
  const flushed = versionOf(1, { flushedSequence: 2, flushedGeneration: 1 })
  assert.deepEqual(readBack(folder, flushed, published).damages, [])
  const none = { ...published, segment: 0, offset: 0 }
  assert.deepEqual(readBack(folder, versionOf(1, { flushedSequence: 2 }), none).damages, [])
})

test('a published segment that a copy accepted is there', async (t) => {
  const { folder, published, offset } = await failedAndAcknowledged(t)
  const accepted = [
    { name: FIRST, bytes: offset },
    { name: SECOND, bytes: published.offset },
  ]
  const { records, damages } = readBack(folder, versionOf(1, { accepted }), published)
  assert.deepEqual([records, damages], [[expected(1), expected(2)], []])
})

test('a segment that was begun after the last publication is no damage, whether it has a group or none', async (t) => {
  for (const isEmpty of [true, false]) {
    const folder = temporaryFolder(t)
    const log = startLog(folder)
    await log.append([bodyOf(1)])
    const published = log.position
    log.cut()
    await log.append([bodyOf(2)])
    await log.close()
    if (isEmpty) truncateSync(join(folder, SECOND), 0)
    const { records, damages } = readBack(folder, versionOf(1), published)
    assert.deepEqual([records, damages], [isEmpty ? [expected(1)] : [expected(1), expected(2)], []])
  }
})
