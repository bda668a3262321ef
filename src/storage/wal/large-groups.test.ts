import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import type { RecordBody } from './group.ts'
import { LogWriter } from './log-writer.ts'
import { readLog } from './read-log.ts'
import { RemovedSpans } from './removed-spans.ts'
import { ThreadDevice } from './thread-device.ts'
import { bodyOf, expected, readBack, startLog, versionOf } from './wal.fixture.ts'
import type { WalRecord } from './wal-record.ts'

/** A record of so many points that its group is encoded in slices, with spans, changes of tags and BAD points. */
function longBody(count: number, step: number): RecordBody {
  return {
    catalog: Uint8Array.from({ length: 3_000_001 }, (_, i) => i % 251),
    removed: RemovedSpans.of(
      Array.from({ length: 20_000 }, (_, i) => ({ tag: i + 1, from: i, to: i + 0.5 })),
    ),
    points: {
      tags: Uint32Array.of(1, 2, 3),
      offsets: Uint32Array.of(0, 1, count - 5, count),
      points: {
        times: Float64Array.from({ length: count }, (_, i) => i * step + (step === 1 ? 0 : i % 3)),
        values: Float64Array.from({ length: count }, (_, i) => i / 3),
        statuses: Uint8Array.from({ length: count }, (_, i) => (i === count - 2 ? 1 : 0)),
      },
    },
  }
}

/** What the log has, one after the other. */
function bodiesIn(folder: string, version = versionOf(1)): readonly WalRecord[] {
  const records: WalRecord[] = []
  readLog(systemFiles, folder, version, null, {
    take: (record) => records.push(record),
    damaged: (damage) => assert.fail(damage.message),
  })
  return records
}

for (const step of [1, 5]) {
  test(`a large group is encoded in slices, and is what was written, between small ones: steps of ${step}`, async (t) => {
    const folder = temporaryFolder(t)
    const log = new LogWriter(new ThreadDevice(() => {}), folder, {
      token: 1,
      generation: 1,
      nextSequence: 1,
    })
    const pause = t.mock.method(TimeSlice.shared, 'next')
    const large = [longBody(800_000, step), bodyOf(3)]
    for (const records of [[bodyOf(1)], large, [bodyOf(2)], large]) {
      const before = pause.mock.callCount()
      const encoded = log.prepare(records)
      assert.equal(encoded !== null, records === large)
      await encoded
      if (encoded !== null) assert.ok(pause.mock.callCount() > before)
      await log.append(records)
    }
    await log.close()
    const written = [bodyOf(1), ...large, bodyOf(2), ...large]
    assert.deepEqual(
      bodiesIn(folder),
      written.map((body, i) => ({ ...body, sequence: i + 1 })),
    )
  })
}

test('a segment that ends, or a thread that is lost, while a large group is encoded makes no difference to it', async (t) => {
  const folder = temporaryFolder(t)
  const threads: Worker[] = []
  const remember = (thread: Worker) => threads.push(thread)
  process.on('worker', remember)
  t.after(() => process.off('worker', remember))
  const log = new LogWriter(new ThreadDevice(() => {}), folder, { token: 1, generation: 1, nextSequence: 1 })
  const large = [longBody(800_000, 1)]
  await log.append([bodyOf(1)])
  const first = log.prepare(large)
  log.cut()
  await first
  assert.ok(log.beginsSegment)
  await log.append(large)
  const second = log.prepare(large)
  await Promise.all([threads[0]!.terminate(), second])
  await until(() => log.beginsSegment, 'it is known that the thread has ended')
  await log.append(large)
  await log.append([bodyOf(2)])
  await log.close()
  assert.deepEqual(
    bodiesIn(folder).map(({ sequence, points }) => [sequence, points?.points.times.length]),
    [
      [1, 1],
      [2, 800_000],
      [3, 800_000],
      [4, 2],
    ],
  )
  assert.equal(readBack(folder).segments.length, 3)
})

test('a large group that was given up leaves nothing in the next one', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const log = startLog(folder, 1, files)
  const large = [longBody(800_000, 1)]
  await log.prepare(large)
  files.plan = (call) => (call === 'write' ? { code: 'ENOSPC' } : null)
  await assert.rejects(log.append(large))
  files.plan = () => null
  await log.append([bodyOf(1)])
  await log.prepare(large)
  await log.append([bodyOf(2)])
  await log.close()
  assert.deepEqual(readBack(folder).records, [expected(1), expected(2)])
})
