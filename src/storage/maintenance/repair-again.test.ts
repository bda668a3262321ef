import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { signal } from '../../../test/durability/workload.ts'
import { FailingFiles, type FaultPlan } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import {
  asideIn,
  contentOf,
  harmRecord,
  live,
  repair,
  reportsIn,
  segmentsIn,
  toldBy,
  write,
} from './repaired-log.fixture.ts'

/** Numbers of the records that are told to be lost. */
const recordsIn = (lost: readonly string[]) =>
  lost.flatMap((what) => /^(records? \d+(?: to \d+)?) of the log/.exec(what)?.[1] ?? []).sort()

/** A log of two owners with a damaged record in the segments of each; what is after them refers to what is before. */
async function liveAndHarm(folder: string): Promise<void> {
  await live(folder, async (store) => {
    await write(store, 'p', 1)
    await store.flush()
    for (const tag of ['a', 'b', 'c']) await write(store, tag, 5)
  })
  await live(folder, async (store) => {
    await write(store, 'b', 7)
    await store.deleteTags(['a'], false, signal)
    await write(store, 'a', 8)
  })
  const segments = segmentsIn(folder)
  harmRecord(segments[0]!, 1)
  harmRecord(segments.at(-1)!, 1)
}

for (const isManifestThere of [true, false]) {
  test(`a repair of the log ${isManifestThere ? 'with' : 'without'} a manifest that fails from any call on is done by the next one, which tells the same records`, async (t) => {
    const base = temporaryFolder(t)
    const source = join(base, 'source')
    await liveAndHarm(source)
    if (!isManifestThere) rmSync(join(source, 'manifest'), { recursive: true })
    const copy = (name: string) => {
      cpSync(source, join(base, name), { recursive: true })
      return join(base, name)
    }
    const whole = copy('whole')
    const { lost } = await repair(whole)
    const expected = recordsIn(lost)
    const content = await contentOf(whole)
    assert.deepEqual(expected, ['record 3', 'record 6'])
    for (const isOnce of [true, false]) {
      let hasFailed = true
      for (let failing = 0; hasFailed; failing++) {
        hasFailed = false
        const folder = copy('failing')
        let what = 'nothing'
        const files = new FailingFiles(systemFiles, (call, path, number) => {
          if (number === failing) what = `${call} of ${path.slice(folder.length)}, ${isOnce}`
          hasFailed ||= number >= failing
          return (isOnce ? number === failing : number >= failing) ? { code: 'EIO' } : null
        })
        const first = await toldBy(folder, files, () => true)
        const second = await repair(folder)
        const told = [...first, ...second.lost]
        assert.deepEqual([...new Set(recordsIn(told))], expected, what)
        const untold = lost.filter((one) => !told.includes(one))
        assert.deepEqual(untold, [], what)
        assert.equal((await repair(folder)).isSound, true, what)
        assert.deepEqual(await contentOf(folder), content, what)
        rmSync(folder, { recursive: true })
      }
    }
  })
}

test('without a manifest what a repair wrote anew stands for all that was there before, also for what was published', async (t) => {
  const base = temporaryFolder(t)
  const folder = join(base, 'plant')
  await liveAndHarm(folder)
  rmSync(join(folder, 'manifest'), { recursive: true })
  const before = segmentsIn(folder).map((path) => path.slice(-21))
  const noManifest: FaultPlan = (call, path) =>
    call === 'create' && path.includes('/manifest/') ? { code: 'ENOSPC' } : null
  await assert.rejects(repair(folder, new FailingFiles(systemFiles, noManifest)), { code: 'ENOSPC' })
  assert.equal(segmentsIn(folder).length, before.length + 1)
  const { lost, isLogAnew, reports } = await repair(folder)
  assert.deepEqual([recordsIn(lost), isLogAnew], [['record 3', 'record 6'], true])
  assert.deepEqual(reports, ['repair-00000003.txt'], 'that of the first one')
  assert.deepEqual([segmentsIn(folder).length, asideIn(folder)], [1, before])
  assert.deepEqual(await contentOf(folder), {
    a: [8],
    c: [5],
    p: [1],
    'recovered-2': [5],
    'recovered-3': [7],
  })
})

test('files that count no more and cannot be moved are told beside what is lost', async (t) => {
  for (const failing of ['rename', 'makeFolder', 'syncFolder'] as const) {
    const folder = temporaryFolder(t)
    await live(folder, async (store) => {
      for (const tag of ['a', 'b', 'c']) await write(store, tag)
    })
    harmRecord(segmentsIn(folder)[0]!, 1)
    const [before] = segmentsIn(folder).map((path) => path.slice(-21))
    const files = new FailingFiles(systemFiles, (call, path) => {
      const isMove = path.endsWith('damaged') || path.endsWith(before!)
      return call === failing && isMove ? { code: 'EIO' } : null
    })
    const { isSound, lost, left, reports } = await repair(folder, files)
    assert.deepEqual([isSound, recordsIn(lost)], [false, ['record 2']])
    const why = 'the disk is full or reports an error'
    const isReported = failing === 'rename'
    assert.deepEqual(left, [
      ...(isReported
        ? []
        : [`what is lost could not be written to the folder damaged (${why}): it is told here alone`]),
      `${before} could not be moved to the folder damaged: ${why}`,
    ])
    assert.deepEqual(reports, isReported ? ['repair-00000002.txt'] : [])
    assert.deepEqual(reportsIn(folder), reports)
    assert.equal((await repair(folder)).isSound, true)
    assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'c'])
  }
})

test('what is lost is told where the new manifest may not be on disk', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'c']) await write(store, tag)
  })
  harmRecord(segmentsIn(folder)[0]!, 1)
  const files = new FailingFiles(systemFiles, (call, path) =>
    call === 'syncFolder' && path.endsWith('manifest') ? { code: 'EIO' } : null,
  )
  const { lost, left } = await repair(folder, files)
  assert.deepEqual(recordsIn(lost), ['record 2'])
  assert.match(left.join(), /^the new manifest may not be on disk \(the disk is full or reports an error\)/)
  // Without it the repair is made again.
  assert.deepEqual([segmentsIn(folder).length, asideIn(folder)], [2, []])
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'c'])
})
