import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../../../test/durability/random.ts'
import { PowerCut, SimulatedDisk } from '../../../test/durability/simulated-disk.ts'
import type { Files } from '../files/files.ts'
import type { AcceptedSegment } from '../manifest/version.ts'
import { LogRewriter, removeUnfinished } from './log-rewriter.ts'
import { readLog } from './read-log.ts'
import { RemovedSpans } from './removed-spans.ts'
import { segmentName } from './segment.ts'
import { bodyOf, expected, plain, versionOf } from './wal.fixture.ts'

const FOLDER = '/wal'
const RECORDS = 12
/** Their numbers are those of records that are lost. */
const LOST = [3, 4, 9]

/** Writes some records, each group to a segment of its own. */
function rewrite(files: Files): readonly AcceptedSegment[] {
  const rewriter = new LogRewriter(files, FOLDER, 7, 1, () => 0, 1)
  for (let number = 1; number <= RECORDS; number++) {
    if (!LOST.includes(number)) rewriter.put({ ...bodyOf(number), sequence: number })
    if (number % 4 === 0) rewriter.endGroup()
  }
  return rewriter.finish()
}

function newDisk(): SimulatedDisk {
  const disk = new SimulatedDisk()
  disk.makeFolder(FOLDER)
  return disk
}

const EMPTY = { catalog: null, removed: RemovedSpans.none, points: null }

test('records are read with the numbers that they had, and empty ones in place of the lost', () => {
  const disk = newDisk()
  const accepted = rewrite(disk)
  assert.equal(accepted.length, 3)
  const read: unknown[] = []
  // Those that wrote it do not take it for a segment of an owner.
  readLog(disk, FOLDER, versionOf(7, { accepted }), null, {
    take: (record) => read.push(plain(record)),
    damaged: (damage) => assert.fail(damage.message),
  })
  const all = Array.from({ length: RECORDS }, (_, i) => i + 1)
  const records = all.map((number) =>
    LOST.includes(number) ? plain({ ...EMPTY, sequence: number }) : expected(number),
  )
  assert.deepEqual(read, records)
})

test('after a power cut at any moment the first segment is there only if all of them are, whole', () => {
  const whole = newDisk()
  const { calls } = whole
  const names = rewrite(whole).map(({ name }) => name)
  const contents = new Map(whole.contents())
  let complete = 0
  for (let cutAt = calls; cutAt <= whole.calls; cutAt++) {
    const disk = newDisk()
    disk.cutAt = cutAt
    try {
      rewrite(disk)
    } catch (error) {
      assert.ok(error instanceof PowerCut)
    }
    for (let cut = 0; cut < 5; cut++) {
      const left = disk.afterCut(randomOf(cutAt * 10 + cut))
      const there = left.list(FOLDER).filter((name) => name.endsWith('.wal'))
      if (!there.includes(segmentName(7, 1))) continue
      complete++
      assert.deepEqual(there, names)
      for (const name of there) {
        const path = `${FOLDER}/${name}`
        assert.equal(left.contents().get(path)!.length, contents.get(path)!.length)
      }
      removeUnfinished(left, FOLDER)
      assert.deepEqual(left.list(FOLDER), names)
    }
  }
  assert.ok(complete > 0)
})
