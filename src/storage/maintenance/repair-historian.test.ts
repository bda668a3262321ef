import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { type Model, modelOf, open, printed, STEPS, signal } from '../../../test/durability/workload.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileStore } from '../engine/file-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { badSector, FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { copyHistorian } from './copy-historian.ts'
import { repairHistorian } from './repair-historian.ts'
import { asideIn } from './repaired-log.fixture.ts'

/** Lives through so many steps, and closes. */
async function lived(folder: string, steps: number): Promise<Model> {
  const store = await open(systemFiles, folder)
  for (const step of STEPS.slice(0, steps)) await step.run(store)
  const model = await modelOf(store)
  await store.close()
  return model
}

test('a manifest that is gone, or cannot be read, is made anew, and all is there', async (t) => {
  const base = temporaryFolder(t)
  for (let steps = 1; steps <= STEPS.length; steps++) {
    const folder = join(base, String(steps))
    const model = await lived(folder, steps)
    if (steps % 2 === 0) rmSync(join(folder, 'manifest'), { recursive: true })
    else truncateSync(join(folder, 'manifest', readdirSync(join(folder, 'manifest')).at(-1)!), 50)
    await assert.rejects(open(systemFiles, folder))
    const report = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
    assert.deepEqual([report.isSound, report.lost], [false, []], `after ${steps} steps`)
    const store = await open(systemFiles, folder)
    assert.equal(printed(await modelOf(store)), printed(model), `after ${steps} steps`)
    assert.deepEqual((await store.check(signal)).problems, [])
    await store.flush()
    assert.equal(printed(await modelOf(store)), printed(model))
    await store.close()
  }
})

test('an earlier manifest beside a lost one is not taken for it: nothing that came later is left out', async (t) => {
  const folder = temporaryFolder(t)
  const manifests = join(folder, 'manifest')
  const earlier = new Map<string, Buffer>()
  for (const tag of ['a', 'b']) {
    const store = await open(systemFiles, folder)
    await store.write(writeBatch([{ tag, points: makeColumns(1) }], true), signal)
    await store.flush()
    await store.close()
    if (tag === 'b') break
    for (const name of readdirSync(manifests)) earlier.set(name, readFileSync(join(manifests, name)))
  }
  for (const name of readdirSync(manifests)) rmSync(join(manifests, name))
  for (const [name, bytes] of earlier) writeFileSync(join(manifests, name), bytes)
  await assert.rejects(open(systemFiles, folder), /the newest manifest is missing/)
  await assert.rejects(
    copyHistorian(systemFiles, folder, join(folder, 'copy'), { mode: 'copy' }, signal),
    /the newest manifest is missing/,
  )
  const { isSound, lost } = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
  assert.deepEqual([isSound, lost], [false, []])
  const store = await open(systemFiles, folder)
  assert.deepEqual([...(await modelOf(store)).keys()].sort(), ['a', 'b'])
  await store.close()
})

test('without a manifest a group whose sync failed does not take the place of what was acknowledged', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const write = (store: FileStore, tag: string) =>
    store.write(writeBatch([{ tag, points: makeColumns(1) }], true), signal)
  for (const [before, after] of [
    ['a', 'b'],
    ['c', 'd'],
  ] as const) {
    const store = await open(files, folder)
    await write(store, before)
    files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
    await assert.rejects(write(store, 'unknown'), { code: 'WRITE_OUTCOME_UNKNOWN' })
    files.plan = () => null
    await write(store, after)
    await store.close()
  }
  rmSync(join(folder, 'manifest'), { recursive: true })
  const { lost } = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
  assert.deepEqual(lost, [])
  const store = await open(systemFiles, folder)
  assert.deepEqual([...(await modelOf(store)).keys()].sort(), ['a', 'b', 'c', 'd'])
  assert.deepEqual((await store.check(signal)).problems, [])
  await store.close()
})

test('without a manifest what an owner wrote that was none any more does not take the place of its successor', async (t) => {
  const folder = temporaryFolder(t)
  const write = async (store: FileStore, tag: string) =>
    store.write(writeBatch([{ tag, points: makeColumns(1) }], true), signal)
  const first = await open(systemFiles, folder)
  await write(first, 'a')
  // As another kernel does that shares the files and not the locks.
  const beside = temporaryFolder(t)
  for (const name of ['owner', 'manifest', 'wal', 'parts', 'catalog']) {
    symlinkSync(join(folder, name), join(beside, name))
  }
  const second = await open(systemFiles, beside)
  await assert.rejects(write(first, 'superseded'), { code: 'WRITE_OUTCOME_UNKNOWN' })
  await write(second, 'b')
  await first.close()
  await second.close()
  for (const name of readdirSync(join(folder, 'manifest'))) rmSync(join(folder, 'manifest', name))
  const { lost } = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
  assert.deepEqual(lost, [])
  const store = await open(systemFiles, folder)
  assert.deepEqual([...(await modelOf(store)).keys()].sort(), ['a', 'b'])
  await store.close()
})

test('a part that cannot be read is set aside and said to be lost; the others count', async (t) => {
  const folder = temporaryFolder(t)
  await lived(folder, STEPS.length)
  const [part] = readdirSync(join(folder, 'parts'))
  truncateSync(join(folder, 'parts', part!), 30)
  rmSync(join(folder, 'manifest'), { recursive: true })
  const report = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
  assert.deepEqual(report.aside, [part])
  assert.match(report.lost[0]!, new RegExp(part!))
  assert.deepEqual(asideIn(folder), [part])
  const store = await open(systemFiles, folder)
  assert.equal((await modelOf(store)).get('d')!.points.size, 5, 'what the log has')
  await store.close()
})

for (const isManifestThere of [true, false]) {
  test(`of a part that is damaged in one place all else is kept, ${isManifestThere ? 'with' : 'without'} a manifest`, async (t) => {
    const folder = temporaryFolder(t)
    const store = await open(systemFiles, folder)
    const entries = ['a', 'b', 'c'].map((tag, k) => {
      const points = makeColumns(3_000)
      for (let i = 0; i < 3_000; i++) {
        points.times[i] = i
        points.values[i] = Math.sqrt(i + k)
      }
      return { tag, points }
    })
    await store.write(writeBatch(entries, true), signal)
    await store.flush()
    // The log has some, too.
    const last = makeColumns(1)
    last.times[0] = 5_000
    await store.write(writeBatch([{ tag: 'c', points: last }], true), signal)
    const before = await modelOf(store)
    await store.close()
    const path = join(folder, 'parts', readdirSync(join(folder, 'parts'))[0]!)
    const bytes = readFileSync(path)
    bytes[100]! ^= 1
    writeFileSync(path, bytes)
    if (!isManifestThere) rmSync(join(folder, 'manifest'), { recursive: true })
    const report = await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)
    assert.equal(report.aside.length, 1)
    assert.ok(report.lost.length > 0)
    // Also beside: what the last owner published says nothing any more.
    const beside = await openFileStore(folder, { historian: 'plant', owner: false })
    assert.equal((await modelOf(beside)).size, 3)
    await beside.close()
    const again = await open(systemFiles, folder)
    const after = await modelOf(again)
    assert.deepEqual((await again.check(signal)).problems, [])
    assert.equal(after.size, 3)
    const whole = [...after].filter(([tag, { points }]) => points.size === before.get(tag)!.points.size)
    assert.ok(whole.length >= 2, 'two of the tags have all of their points')
    for (const [tag, { points }] of after) {
      for (const [time, value] of points) assert.equal(value, before.get(tag)!.points.get(time))
    }
    assert.ok(after.get('c')!.points.has(5_000), 'what the log has')
    await again.flush()
    await again.close()
    assert.equal((await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)).isSound, true)
  })
}

for (const isManifestThere of [true, false]) {
  test(`of a part of which the disk does not give something (EIO) all else is kept, ${isManifestThere ? 'with' : 'without'} a manifest`, async (t) => {
    const folder = temporaryFolder(t)
    const store = await open(systemFiles, folder)
    const entries = ['a', 'b', 'c'].map((tag) => ({ tag, points: makeColumns(3_000) }))
    for (const { points } of entries) for (let i = 0; i < 3_000; i++) points.times[i] = i * i
    await store.write(writeBatch(entries, true), signal)
    await store.flush()
    await store.close()
    const [part] = readdirSync(join(folder, 'parts'))
    const files = new FailingFiles(systemFiles, badSector(part!, 100, 101))
    const checked = await openFileStore(folder, { historian: 'plant', owner: false, files })
    const { problems } = await checked.check(signal)
    await checked.close()
    assert.match(problems.join('\n'), /the disk reports an error \(EIO\)/)
    if (!isManifestThere) rmSync(join(folder, 'manifest'), { recursive: true })
    const report = await repairHistorian(files, folder, { historian: 'plant' }, signal)
    assert.deepEqual(report.aside, [part])
    assert.match(report.lost.join('\n'), /points of tag 1 from .*: the disk reports an error \(EIO\)/)
    const again = await open(systemFiles, folder)
    assert.deepEqual((await again.check(signal)).problems, [])
    const sizes = [...(await modelOf(again)).values()].map(({ points }) => points.size)
    assert.deepEqual([sizes[1], sizes[2]], [3_000, 3_000])
    await again.close()
  })
}

test('of a part whose file is missing a repair says what is lost and what may be back, and all else counts', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(systemFiles, folder)
  const write = async (tag: string, time: number) => {
    const points = makeColumns(1)
    points.times[0] = time * 1e6
    await store.write(writeBatch([{ tag, points }], true), signal)
  }
  await write('a', 0)
  await write('a', 1)
  await store.flush()
  await store.deletePoints([{ tag: 'a', from: 0, to: 1 }], false, signal)
  await write('b', 2)
  await write('b', 3)
  await store.flush()
  const [first, second] = readdirSync(join(folder, 'parts')).sort()
  await write('a', 4)
  await store.close()
  rmSync(join(folder, 'parts', second!))
  const { isSound, parts, aside, lost } = await repairHistorian(
    systemFiles,
    folder,
    { historian: 'plant' },
    signal,
  )
  assert.deepEqual([isSound, parts, aside], [false, 1, []])
  const missing = 'the file of the part is missing'
  assert.deepEqual(lost, [
    `part ${second}: its 2 points from 1970-01-01T00:00:02.000Z to 1970-01-01T00:00:03.000Z: ${missing}`,
    `part ${second}: its 1 tombstones, so that points that were deleted may be back: ${missing}`,
  ])
  assert.deepEqual(readdirSync(join(folder, 'parts')), [first])
  assert.equal((await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)).isSound, true)
  const again = await open(systemFiles, folder)
  const found = [...(await modelOf(again))].map(([tag, { points }]) => [tag, [...points.keys()]])
  assert.deepEqual(found, [
    ['a', [0, 1e6, 4e6]],
    ['b', []],
  ])
  assert.deepEqual((await again.check(signal)).problems, [])
  await again.close()
})

test('a historian that is sound is left alone', async (t) => {
  const folder = temporaryFolder(t)
  await lived(folder, 3)
  assert.equal((await repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)).isSound, true)
})
