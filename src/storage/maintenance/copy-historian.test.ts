import assert from 'node:assert/strict'
import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { modelOf, newClock, open, openRetained, printed, STEPS } from '../../../test/durability/workload.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'
import { copyHistorian } from './copy-historian.ts'

const { signal } = new AbortController()
const point = (time: number) => {
  const points = makeColumns(1)
  points.times[0] = time
  return points
}

/** As on another machine, where the file system carries no locks: nobody sees that the owner lives. */
const withoutLocks: Files = {
  ...systemFiles,
  exists: (path) => basename(path) !== 'owner.lock' && systemFiles.exists(path),
}

test('a copy beside the owner has all that was acknowledged, and goes on by itself', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const store = await open(systemFiles, from)
  for (const [index, step] of STEPS.entries()) {
    await step.run(store)
    const to = join(folder, `copy-${index}`)
    await copyHistorian(systemFiles, from, to, { mode: index % 2 === 0 ? 'link' : 'copy' }, signal)
    const copy = await open(systemFiles, to)
    assert.equal(printed(await modelOf(copy)), printed(await modelOf(store)), step.name)
    await copy.write(writeBatch([{ tag: 'of the copy', points: point(index) }], true), signal)
    await copy.flush()
    assert.deepEqual((await copy.check(signal)).problems, [])
    await copy.close()
  }
  // What the copies wrote is theirs alone.
  assert.deepEqual(await store.findTags(['of the copy'], signal), [null])
  assert.deepEqual((await store.check(signal)).problems, [])
  await store.close()
})

test('the first owner of a copy accepts each segment of its log once, and reads it once', async (t) => {
  const folder = temporaryFolder(t)
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  const store = await open(systemFiles, from)
  await store.write(writeBatch([{ tag: 'A', points: point(1) }], true), signal)
  const { version } = await copyHistorian(systemFiles, from, to, { mode: 'copy' }, signal)
  await store.close()
  const [segment] = version.accepted
  assert.equal(version.accepted.length, 1)
  const read: string[] = []
  const files: Files = {
    ...systemFiles,
    open(path) {
      if (basename(path) === segment!.name) read.push(path)
      return systemFiles.open(path)
    },
  }
  const copy = await open(files, to)
  const manifests = join(to, 'manifest')
  const place = listManifests(systemFiles, manifests).at(-1)!
  assert.deepEqual(readManifest(systemFiles, manifests, place).version.accepted, [segment])
  // By the start, and by the check that what it ends with is on disk.
  assert.ok(read.length <= 2, `${read.length} reads`)
  assert.equal((await modelOf(copy)).get('A')?.points.size, 1)
  await copy.close()
})

test('a second copy to the same folder takes what is new, and links share their files', async (t) => {
  const folder = temporaryFolder(t)
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  const store = await open(systemFiles, from)
  for (const step of STEPS.slice(0, 4)) await step.run(store)
  const first = await copyHistorian(systemFiles, from, to, { mode: 'link' }, signal)
  assert.ok(first.linked.files > 0)
  const [part] = readdirSync(join(to, 'parts'))
  assert.equal(statSync(join(to, 'parts', part!)).ino, statSync(join(from, 'parts', part!)).ino)
  const again = await copyHistorian(systemFiles, from, to, { mode: 'link' }, signal)
  assert.deepEqual([again.linked.files, again.reused], [0, first.linked])
  for (const step of STEPS.slice(4)) await step.run(store)
  await copyHistorian(systemFiles, from, to, { mode: 'copy' }, signal)
  const copy = await open(systemFiles, to)
  assert.equal(printed(await modelOf(copy)), printed(await modelOf(store)))
  await copy.close()
  await store.close()
})

test('copies taken while points are written, flushed and merged each have one moment of it', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const store = await openFileStore(from, {
    historian: 'plant',
    owner: true,
    limits: {
      flush: { points: 20, records: 5, ageMs: 1 },
      merge: { partitionBytes: 10_000, fanIn: 2, largestBytes: 1 << 20 },
      unlinkAfterMs: 0,
      reserveBytes: 0,
    },
  })
  let written = 0
  let isEnding = false
  const writing = (async () => {
    while (!isEnding) {
      // Both tags have the same points, or the moment is none.
      const entries = ['a', 'b'].map((tag) => ({ tag, points: point(written) }))
      await store.write(writeBatch(entries, true), signal)
      written++
    }
  })()
  for (let i = 0; i < 20; i++) {
    const before = written
    const to = join(folder, `copy-${i}`)
    await copyHistorian(i % 2 === 0 ? systemFiles : withoutLocks, from, to, { mode: 'link' }, signal)
    const copy = await open(systemFiles, to)
    const model = await modelOf(copy)
    const count = model.get('a')?.points.size ?? 0
    assert.equal(model.get('b')?.points.size ?? 0, count)
    assert.ok(count >= before && count <= written + 1, `${before} <= ${count} <= ${written}`)
    await copy.close()
  }
  isEnding = true
  await writing
  await store.close()
})

test('a copy for which a network file system forgets a file that another machine removed (ESTALE) begins anew', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const store = await open(systemFiles, from)
  for (const step of STEPS.slice(0, 4)) await step.run(store)
  const files = new FailingFiles(systemFiles)
  await copyHistorian(files, from, join(folder, 'whole'), { mode: 'copy' }, signal)
  for (let at = 0, { calls } = files; at < calls; at++) {
    const stale = new FailingFiles(systemFiles, (call, path, number) =>
      call === 'read' && number === at && path.startsWith(from) ? { code: 'ESTALE' } : null,
    )
    const to = join(folder, `copy-${at}`)
    await copyHistorian(stale, from, to, { mode: 'copy' }, signal)
    const copy = await open(systemFiles, to)
    assert.equal(printed(await modelOf(copy)), printed(await modelOf(store)))
    await copy.close()
  }
  await store.close()
})

test('of a historian with a part whose file is missing no copy is made, and the part is named', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const store = await open(systemFiles, from)
  for (const step of STEPS) await step.run(store)
  await store.close()
  const [part] = readdirSync(join(from, 'parts'))
  rmSync(join(from, 'parts', part!))
  for (const mode of ['copy', 'link'] as const) {
    await assert.rejects(copyHistorian(systemFiles, from, join(folder, mode), { mode }, signal), {
      name: 'Damage',
      message: `the file of part ${part} is missing`,
    })
    assert.deepEqual(readdirSync(join(folder, mode, 'manifest')), [])
  }
})

test('what is no copy of the historian is left alone, and a failed one is no historian', async (t) => {
  const folder = temporaryFolder(t)
  const [one, other, to] = ['one', 'other', 'to'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await assert.rejects(copyHistorian(systemFiles, one, to, { mode: 'copy' }, signal), {
    code: 'DATA_DIR_UNUSABLE',
  })
  for (const place of [one, other]) {
    const store = await open(systemFiles, place)
    for (const step of STEPS.slice(0, 4)) await step.run(store)
    await store.close()
  }
  const files = new FailingFiles(systemFiles, (call, path) =>
    call === 'sync' && path.startsWith(to) ? { code: 'EIO' } : null,
  )
  await assert.rejects(copyHistorian(files, one, to, { mode: 'copy' }, signal), { code: 'EIO' })
  await assert.rejects(openFileStore(to, { historian: 'plant', owner: false }), { code: 'DATA_DIR_UNUSABLE' })
  await copyHistorian(systemFiles, one, to, { mode: 'copy' }, signal)
  await assert.rejects(copyHistorian(systemFiles, other, to, { mode: 'copy' }, signal), {
    code: 'DATA_DIR_UNUSABLE',
  })
  const aborted = AbortSignal.abort(new Error('enough'))
  await assert.rejects(copyHistorian(systemFiles, one, to, { mode: 'copy' }, aborted), /enough/)
})

test('a copy that is made while the owner begins another manifest begins anew, also where nobody sees its lock', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const files = new FailingFiles(systemFiles)
  const store = await open(files, from)
  await store.write(writeBatch([{ tag: 'a', points: point(1) }], true), signal)
  files.plan = (call, path) => (call === 'sync' && path.includes('manifest') ? { code: 'EIO' } : null)
  await assert.rejects(store.flush())
  const before = systemFiles.list(join(from, 'manifest'))
  files.plan = () => null
  await store.flush()
  for (const [i, isLocked] of [true, false].entries()) {
    let lists = 0
    const late: Files = {
      ...(isLocked ? systemFiles : withoutLocks),
      list: (path) => (path === join(from, 'manifest') && lists++ === 0 ? before : systemFiles.list(path)),
    }
    assert.ok(systemFiles.list(join(from, 'manifest')).at(-1)! > before.at(-1)!)
    const to = join(folder, `copy-${i}`)
    await copyHistorian(late, from, to, { mode: 'copy' }, signal)
    const copy = await open(systemFiles, to)
    assert.equal(printed(await modelOf(copy)), printed(await modelOf(store)))
    await copy.close()
    lists = 0
    const reader = await openFileStore(from, { historian: 'plant', owner: false, files: late })
    assert.equal(printed(await modelOf(reader)), printed(await modelOf(store)))
    await reader.close()
  }
  await store.close()
})

test('an edit of the manifest that failed is in no copy beside the owner', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const files = new FailingFiles(systemFiles)
  const clock = newClock()
  const store = await openRetained(files, from, clock)
  await store.write(
    writeBatch(
      ['d', 'e'].map((tag) => ({ tag, points: point(1) })),
      true,
    ),
    signal,
  )
  await store.write(writeBatch([{ tag: 'd', points: point(2) }], true), signal)
  files.plan = (call, path) => (call === 'sync' && path.includes('manifest') ? { code: 'EIO' } : null)
  clock.us += 1e9
  await store.retain()
  assert.match(store.trouble ?? '', /^watermarks of retention cannot be moved/)
  const expected = printed(await modelOf(store))
  await copyHistorian(systemFiles, from, join(folder, 'copy'), { mode: 'copy' }, signal)
  const copy = await open(systemFiles, join(folder, 'copy'))
  assert.equal(printed(await modelOf(copy)), expected)
  await copy.close()
  files.plan = () => null
  await store.close()
})

test('of a part that is cut off all that is there is copied, also linked or beside an earlier copy', async (t) => {
  const folder = temporaryFolder(t)
  const [from, earlier] = [join(folder, 'from'), join(folder, 'earlier')]
  const store = await open(systemFiles, from)
  for (const step of STEPS) await step.run(store)
  await store.close()
  await copyHistorian(systemFiles, from, earlier, { mode: 'copy' }, signal)
  const [part] = readdirSync(join(from, 'parts'))
  const path = join(from, 'parts', part!)
  const bytes = statSync(path).size - 10
  truncateSync(path, bytes)
  const ways = [{ mode: 'copy' }, { mode: 'link' }, { mode: 'copy', earlier }] as const
  for (const [i, options] of ways.entries()) {
    const to = join(folder, `copy-${i}`)
    await copyHistorian(systemFiles, from, to, options, signal)
    assert.equal(statSync(join(to, 'parts', part!)).size, bytes)
    const copy = await openFileStore(to, { historian: 'plant', owner: false })
    assert.match((await copy.check(signal)).problems.join(), new RegExp(`part ${part}: `))
    await copy.close()
  }
})

test('a file that the disk does not give (EIO) is named by the copy that fails with it', async (t) => {
  const folder = temporaryFolder(t)
  const from = join(folder, 'from')
  const store = await open(systemFiles, from)
  for (const step of STEPS) await step.run(store)
  await store.close()
  for (const kind of ['parts', 'catalog']) {
    const [name] = readdirSync(join(from, kind))
    const path = join(from, kind, name!)
    const files = new FailingFiles(systemFiles, (call, at) =>
      call === 'read' && at === path ? { code: 'EIO' } : null,
    )
    const copied = copyHistorian(files, from, join(folder, kind), { mode: 'copy' }, signal)
    await assert.rejects(copied, { name: 'Damage', message: `${name}: the disk reports an error (EIO)` })
  }
})
