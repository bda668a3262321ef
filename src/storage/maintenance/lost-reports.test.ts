import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { signal } from '../../../test/durability/workload.ts'
import { FailingFiles, type FaultPlan } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { copyHistorian } from './copy-historian.ts'
import { parseLostReport } from './lost-report.ts'
import { repairHistorian } from './repair-historian.ts'
import {
  asideIn,
  contentOf,
  harmRecord,
  live,
  repair,
  reportsIn,
  segmentsIn,
  write,
} from './repaired-log.fixture.ts'

const REPORT = 'repair-00000002.txt'

/** A log of three records, of which the second one is damaged. */
async function liveAndHarm(folder: string): Promise<void> {
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'c']) await write(store, tag)
  })
  harmRecord(segmentsIn(folder)[0]!, 1)
}

const pathIn = (folder: string, name: string) => join(folder, 'damaged', name)
const sentencesIn = (folder: string, name: string) =>
  parseLostReport(readFileSync(pathIn(folder, name), 'utf8'))!.lost

/** A repair that is killed when all is done but to tell it. */
async function killedBeforeTelling(folder: string): Promise<readonly string[]> {
  let lost: readonly string[] = []
  const tell = (report: { readonly lost: readonly string[] }) => {
    lost = report.lost
    throw new Error('killed')
  }
  await assert.rejects(repairHistorian(systemFiles, folder, { historian: 'plant', tell }, signal), /killed/)
  return lost
}

test('what is lost is in a report beside what was set aside, and stays there after the repair', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  const { lost, reports } = await repair(folder)
  assert.equal(lost.length, 2)
  assert.deepEqual([reports, reportsIn(folder)], [[REPORT], [REPORT]])
  assert.deepEqual(sentencesIn(folder, REPORT), lost)
  assert.match(readFileSync(pathIn(folder, REPORT), 'utf8'), /^lost: record 2 of the log: the checksum/m)
  await live(folder, (store) => write(store, 'd'))
  const { isSound, reports: later } = await repair(folder)
  assert.deepEqual([isSound, later, reportsIn(folder)], [true, [], [REPORT]])
  assert.equal(asideIn(folder).length, 1)
})

test('a repair without a loss writes no report', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, (store) => write(store, 'a'))
  rmSync(join(folder, 'manifest'), { recursive: true })
  const { isSound, lost, reports } = await repair(folder)
  assert.deepEqual([isSound, lost, reports, reportsIn(folder)], [false, [], [], []])
})

test('what a repair lost that was killed before it told it is told by the next one, once', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  const lost = await killedBeforeTelling(folder)
  assert.deepEqual(reportsIn(folder), [`${REPORT}.new`])
  const next = await repair(folder)
  assert.deepEqual(next.lost, lost)
  assert.deepEqual([next.isSound, next.isRetold, next.isLogAnew], [false, true, true])
  assert.deepEqual([next.reports, reportsIn(folder)], [[REPORT], [REPORT]])
  const last = await repair(folder)
  assert.deepEqual([last.isSound, last.isRetold, last.lost], [true, false, []])
})

test('a report that was not told waits over starts of the historian, and is in no copy of it', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  const lost = await killedBeforeTelling(folder)
  for (const tag of ['d', 'e']) {
    await live(folder, async (store) => {
      await write(store, tag)
      await store.flush()
    })
  }
  const copy = join(temporaryFolder(t), 'copy')
  await copyHistorian(systemFiles, folder, copy, { mode: 'copy' }, signal)
  assert.equal(existsSync(join(copy, 'damaged')), false)
  assert.deepEqual(reportsIn(folder), [`${REPORT}.new`])
  assert.deepEqual((await repair(folder)).lost, lost)
})

test('of several repairs that did not end each sentence is told once, until one ends', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  const first = await killedBeforeTelling(folder)
  await live(folder, async (store) => {
    for (const tag of ['d', 'e']) await write(store, tag)
  })
  harmRecord(segmentsIn(folder).at(-1)!, 0)
  const second = await killedBeforeTelling(folder)
  assert.deepEqual(second.slice(0, first.length), first)
  assert.ok(second.length > first.length)
  assert.deepEqual(await killedBeforeTelling(folder), second)
  const { lost, isRetold, reports } = await repair(folder)
  assert.deepEqual([lost, isRetold, reports.length], [second, true, 2])
  assert.equal(new Set(lost).size, lost.length)
  assert.equal((await repair(folder)).isSound, true)
})

test('a report of a repair that came to no manifest is not told when what it missed is back', async (t) => {
  for (const code of ['EIO', 'ENOSPC']) {
    const folder = temporaryFolder(t)
    await live(folder, async (store) => {
      for (const tag of ['a', 'b', 'c']) await write(store, tag)
    })
    const [path] = segmentsIn(folder)
    const whole = readFileSync(path!)
    harmRecord(path!, 1)
    let isFailing = false
    const files = new FailingFiles(systemFiles, (call, at) => {
      isFailing = (isFailing && code === 'EIO') || (call === 'create' && at.includes('/manifest/'))
      return isFailing ? { code } : null
    })
    await assert.rejects(repair(folder, files), { code })
    // On a full disk it has made room for the manifest, in vain.
    assert.deepEqual(reportsIn(folder), code === 'EIO' ? [`${REPORT}.new`] : [])
    writeFileSync(path!, whole)
    const { isSound, lost } = await repair(folder)
    assert.deepEqual([isSound, lost, reportsIn(folder)], [true, [], []])
    assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'b', 'c'])
  }
})

test('a report that was cut off in its writing is not told, and one that is damaged is said to be', async (t) => {
  const base = temporaryFolder(t)
  await liveAndHarm(join(base, 'other'))
  await repair(join(base, 'other'))
  const report = readFileSync(pathIn(join(base, 'other'), REPORT))
  for (const length of [0, 1, 100, report.length - 1]) {
    const folder = join(base, String(length))
    await live(folder, (store) => write(store, 'a'))
    mkdirSync(join(folder, 'damaged'))
    const put = (name: string) => writeFileSync(pathIn(folder, name), report.subarray(0, length))
    // That of a repair whose manifest is not there.
    put(`${REPORT}.new`)
    const cut = await repair(folder)
    assert.deepEqual([cut.isSound, cut.lost, reportsIn(folder)], [true, [], []], `${length} bytes`)
    // That of one whose manifest came to its name, and which was on disk then.
    put('repair-00000001.txt.new')
    const { isSound, isRetold, lost, left } = await repair(folder)
    assert.deepEqual([isSound, isRetold, lost], [false, true, []], `${length} bytes`)
    assert.deepEqual(left, ['the report repair-00000001.txt of an earlier repair is damaged'])
    assert.deepEqual(reportsIn(folder), ['repair-00000001.txt'])
    assert.equal((await repair(folder)).isSound, true)
  }
})

test('reports that cannot be read or listed stop no repair, and are told by the next one', async (t) => {
  const plans: readonly FaultPlan[] = [
    (call, path) => (call === 'list' && path.endsWith('damaged') ? { code: 'EIO' } : null),
    (call, path) => (call === 'open' && path.endsWith('.txt.new') ? { code: 'EACCES' } : null),
    (call, path) => (call === 'read' && path.endsWith('.txt.new') ? { code: 'EIO' } : null),
  ]
  for (const plan of plans) {
    const folder = temporaryFolder(t)
    await liveAndHarm(folder)
    const first = await killedBeforeTelling(folder)
    const { isSound, isRetold, lost, left } = await repair(folder, new FailingFiles(systemFiles, plan))
    assert.deepEqual([isSound, isRetold, lost, left.length], [false, true, [], 1])
    assert.match(left[0]!, /earlier repair.*: (the disk is full or reports an error|permission)/)
    assert.deepEqual((await repair(folder)).lost, first)
  }
})

test('a repair whose report finds no room is made all the same, and says so', async (t) => {
  const isOfReport = (path: string) => path.includes('damaged')
  const why =
    'what is lost could not be written to the folder damaged (the disk is full): it is told here alone'
  for (const call of ['makeFolder', 'create', 'write', 'sync', 'syncFolder'] as const) {
    const folder = temporaryFolder(t)
    await liveAndHarm(folder)
    let isOnce = false
    const files = new FailingFiles(systemFiles, (one, path) => {
      if (isOnce || one !== call || !isOfReport(path)) return null
      isOnce = true
      return { code: 'ENOSPC', short: true }
    })
    const { lost, left, reports } = await repair(folder, files)
    assert.deepEqual([lost.length, left, reports], [2, [why], []], call)
    assert.deepEqual([reportsIn(folder), asideIn(folder).length], [[], 1], call)
    assert.equal((await repair(folder)).isSound, true, call)
  }
})

test('where the report takes the last room of the disk it gives it to the manifest', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  const files = new FailingFiles(systemFiles, (call, path) => {
    const isManifest = call === 'write' && path.includes('/manifest/')
    return isManifest && reportsIn(folder).length > 0 ? { code: 'ENOSPC', short: true } : null
  })
  const { lost, left, reports } = await repair(folder, files)
  assert.deepEqual([lost.length, left.length, reports, reportsIn(folder)], [2, 1, [], []])
  assert.match(left[0]!, /\(the disk is full\): it is told here alone$/)
  assert.equal((await repair(folder)).isSound, true)
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'c'])
})

test('a report that cannot get its last name is told again', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  const files = new FailingFiles(systemFiles, (call, path) =>
    call === 'rename' && path.endsWith('.txt.new') ? { code: 'EIO' } : null,
  )
  const { lost } = await repair(folder, files)
  assert.equal(lost.length, 2)
  assert.deepEqual((await repair(folder)).lost, lost)
  assert.equal((await repair(folder)).isSound, true)
})

test('a report takes the name of no other one', async (t) => {
  const folder = temporaryFolder(t)
  await liveAndHarm(folder)
  mkdirSync(join(folder, 'damaged'))
  writeFileSync(pathIn(folder, REPORT), 'of a repair whose claims are gone')
  const { reports } = await repair(folder)
  assert.deepEqual(reports, ['repair-00000002-2.txt'])
  assert.deepEqual(reportsIn(folder), ['repair-00000002-2.txt', REPORT])
  // It is told again by its own name.
  renameSync(pathIn(folder, reports[0]!), pathIn(folder, `${reports[0]}.new`))
  assert.deepEqual((await repair(folder)).reports, reports)
  assert.deepEqual(readdirSync(join(folder, 'damaged')).length, 3)
})
