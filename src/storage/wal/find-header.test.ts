import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import type { Damage } from '../damage.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { RecordRange } from './counted.ts'
import { findHeader } from './find-header.ts'
import { GROUP_HEADER_BYTES } from './group.ts'
import { readLog } from './read-log.ts'
import { SEGMENT_HEADER_BYTES, segmentName } from './segment.ts'
import { bodyOf, expected, plain, startLog, versionOf } from './wal.fixture.ts'

const FIRST_RECORD = SEGMENT_HEADER_BYTES + GROUP_HEADER_BYTES

/**
 * A log of two segments: record 1, and record 2 as it failed, or both, in the first one; in the second one a group of
 * two records, and one of one.
 * @param offsets  where bits are flipped of the second one
 */
async function harmed(t: TestContext, isFailed: boolean, offsets: readonly number[]) {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  await log.append([bodyOf(1)])
  if (isFailed) {
    files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
    await assert.rejects(log.append([bodyOf(2)]))
    files.plan = () => null
  } else {
    await log.append([bodyOf(2)])
    log.cut()
  }
  const first = log.nextSequence
  await log.append([bodyOf(first), bodyOf(first + 1)])
  await log.append([bodyOf(first + 2)])
  await log.close()
  const path = join(folder, segmentName(1, 2))
  const bytes = readFileSync(path)
  for (const at of offsets) bytes[at]! ^= 1
  writeFileSync(path, bytes)
  const records: unknown[] = []
  const damages: string[] = []
  const unstated: RecordRange[] = []
  const target = {
    take: (record: Parameters<typeof plain>[0]) => records.push(plain(record)),
    damaged: (damage: Damage) => damages.push(damage.message),
    unstated: (range: RecordRange) => unstated.push(range),
  }
  readLog(systemFiles, folder, versionOf(1), log.position, target, false, (name, bytes, before) =>
    findHeader(name, bytes, before, 1),
  )
  return { records, damages, unstated }
}

/** The header, and that of the first group. */
const HEADERS = [20, SEGMENT_HEADER_BYTES + 20]

test('a group that failed does not count where the header and the group that came in its place are damaged', async (t) => {
  for (const record of [[], [FIRST_RECORD + 40]]) {
    const { records, damages, unstated } = await harmed(t, true, [...HEADERS, ...record])
    assert.deepEqual(records, [expected(1), expected(4)])
    assert.ok(damages.includes('records 2 to 3 of the log are missing'), damages.join('\n'))
    assert.deepEqual(unstated, [])
  }
})

test('where it cannot be told which records a damaged group had, that of the segment before is unstated', async (t) => {
  const lengths = [...HEADERS, FIRST_RECORD]
  const failed = await harmed(t, true, lengths)
  assert.deepEqual(failed.records, [expected(1), expected(2), expected(4)])
  assert.deepEqual(failed.unstated, [{ first: 2, last: 2 }])
  const counted = await harmed(t, false, lengths)
  assert.deepEqual(counted.records, [expected(1), expected(2), expected(5)])
  assert.deepEqual(counted.unstated, [{ first: 2, last: 2 }])
})

test('a group before a damaged header counts as far as the numbers behind it say', async (t) => {
  const { records, unstated } = await harmed(t, false, HEADERS)
  assert.deepEqual(records, [expected(1), expected(2), expected(5)])
  assert.deepEqual(unstated, [])
  const whole = await harmed(t, false, [20])
  assert.deepEqual(
    whole.records,
    [1, 2, 3, 4, 5].map((number) => expected(number)),
  )
  assert.deepEqual(whole.unstated, [])
})
