import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until, untilDone } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { openFiles, openInProcess } from '../files/open-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const owner = { historian: 'plant', owner: true, limits: { reserveBytes: 0 } }
const batch = (tag: string) => writeBatch([{ tag, points: makeColumns(1) }], true)

test('a second owner is refused with the process that is the first', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openFileStore(folder, owner)
  await assert.rejects(openFileStore(folder, owner), {
    code: 'DATA_DIR_IN_USE',
    message: new RegExp(`process ${process.pid}`),
  })
  await store.write(batch('a'), signal)
  await store.close()
  const again = await openFileStore(folder, owner)
  assert.equal((await again.findTags(['a'], signal))[0]!.name, 'a')
  await again.close()
})

test('the folder of another historian is refused, and so are files without a manifest', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openFileStore(folder, owner)
  await store.write(batch('a'), signal)
  await store.flush()
  await store.close()
  for (const isOwner of [true, false]) {
    await assert.rejects(openFileStore(folder, { ...owner, historian: 'Plant', owner: isOwner }), {
      code: 'DATA_DIR_UNUSABLE',
      message: /holds the historian plant, not Plant/,
    })
  }
  rmSync(join(folder, 'manifest'), { recursive: true })
  await assert.rejects(openFileStore(folder, owner), { code: 'DATA_DIR_UNUSABLE', message: /no manifest/ })
  await assert.rejects(openFileStore(folder, { ...owner, owner: false }), { code: 'DATA_DIR_UNUSABLE' })
})

test('nobody reads a historian that is none', async (t) => {
  const folder = temporaryFolder(t)
  await assert.rejects(openFileStore(join(folder, 'none'), { ...owner, owner: false }), {
    code: 'DATA_DIR_UNUSABLE',
  })
})

/** A store with the tag a that has a reserve, and where that is. */
async function openWithReserve(folder: string, files: Files) {
  const options = { ...owner, files, limits: { reserveBytes: 1 << 16 } }
  const reserve = join(folder, 'wal', 'reserve')
  const first = await openFileStore(folder, options)
  await first.write(batch('a'), signal)
  await until(() => systemFiles.exists(reserve) && statSync(reserve).size === 1 << 16, 'room is set aside')
  await first.close()
  // Nobody sees when the first one may use it, which is when it is synced; the next one may from its start.
  return { store: await openFileStore(folder, options), reserve }
}

test('on a full disk the reserve makes room for points to be taken away', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const { store, reserve } = await openWithReserve(folder, files)
  // File systems that compress, or find equal blocks, must set it aside all the same.
  const content = readFileSync(reserve)
  assert.ok(deflateRawSync(content).length >= content.length)
  // Nothing is written before the reserve is given up.
  files.plan = (call) => (call === 'write' && systemFiles.exists(reserve) ? { code: 'ENOSPC' } : null)
  await assert.rejects(store.write(batch('b'), signal), { code: 'WRITE_FAILED', message: /disk is full/ })
  assert.deepEqual(await store.deleteTags(['a'], false, signal), [1])
  assert.equal(systemFiles.exists(reserve), false)
  await store.close()
})

for (const end of ['goes on', 'is closed'] as const) {
  test(`tags are taken away when a flush has ended that has the last of a full disk, also where the historian ${end}`, async (t) => {
    const folder = temporaryFolder(t)
    const files = new FailingFiles(systemFiles)
    const { store, reserve } = await openWithReserve(folder, files)
    await store.write(batch('b'), signal)
    let deleting: Promise<unknown> | null = null
    let refused = 0
    let isFlushed = false
    files.plan = (call, path) => {
      if (call === 'write' && dirname(path) === join(folder, 'manifest')) isFlushed = true
      if (call === 'write' && path.endsWith('.part') && systemFiles.exists(reserve)) return { code: 'ENOSPC' }
      if (call === 'write' && path.endsWith('.part')) deleting ??= store.deleteTags(['a'], false, signal)
      const isLog = call === 'write' && dirname(path) === join(folder, 'wal') && path !== reserve
      if (!isLog || deleting === null || isFlushed) return null
      refused++
      return { code: 'ENOSPC' }
    }
    const flushing = store.flush()
    await until(() => refused > 0, 'the deletion finds no room')
    if (end === 'is closed') await store.close()
    await flushing
    assert.deepEqual(await deleting, [1])
    if (end === 'goes on') await store.close()
    const last = await openFileStore(folder, owner)
    const found = await last.findTags(['a', 'b'], signal)
    assert.deepEqual(
      found.map((tag) => tag?.name),
      [undefined, 'b'],
    )
    await last.close()
  })
}

test('what makes room is written to a new segment where the one of before cannot be cut, as under a quota of btrfs', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const { store, reserve } = await openWithReserve(folder, files)
  await store.write(batch('b'), signal)
  let isUsedUp = true
  const failed: string[] = []
  files.plan = (call, path) => {
    if (call === 'remove' && path === reserve) isUsedUp = false
    if (!isUsedUp || (call !== 'write' && call !== 'truncate')) return null
    failed.push(call)
    return { code: 'EDQUOT', short: call === 'write' }
  }
  assert.deepEqual(await store.deleteTags(['a'], false, signal), [1])
  assert.deepEqual(failed, ['write', 'truncate'])
  assert.equal(isUsedUp, false)
  // Part of the first try is in the segment before, and does not count.
  await store.close()
  const last = await openFileStore(folder, owner)
  assert.deepEqual(
    (await last.findTags(['a', 'b'], signal)).map((tag) => tag?.name),
    [undefined, 'b'],
  )
  assert.deepEqual((await last.check(signal)).problems, [])
  await last.close()
})

test('points of which part stays in a segment that cannot be cut are in no read, and it is not known whether they will be', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const store = await openFileStore(folder, { ...owner, files })
  await store.write(batch('a'), signal)
  files.plan = (call) =>
    call === 'write' || call === 'truncate' ? { code: 'EDQUOT', short: call === 'write' } : null
  await assert.rejects(store.write(batch('b'), signal), {
    code: 'WRITE_OUTCOME_UNKNOWN',
    message: /the disk quota is used up/,
  })
  // The next segment cannot be begun: nothing of these is written.
  await assert.rejects(store.write(batch('c'), signal), {
    code: 'WRITE_FAILED',
    message: /the disk quota is used up/,
  })
  assert.deepEqual(await store.findTags(['b', 'c'], signal), [null, null])
  files.plan = () => null
  await store.write(batch('d'), signal)
  await store.close()
  const last = await openFileStore(folder, owner)
  assert.deepEqual(
    (await last.findTags(['a', 'b', 'c', 'd'], signal)).map((tag) => tag?.name),
    ['a', undefined, undefined, 'd'],
  )
  await last.close()
})

test('an owner that finds the disk full takes the reserve of the one before', async (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'wal'), { recursive: true })
  const reserve = join(folder, 'wal', 'reserve')
  writeFileSync(reserve, 'zeros')
  const files = new FailingFiles(systemFiles, (call) =>
    call === 'write' && systemFiles.exists(reserve) ? { code: 'ENOSPC' } : null,
  )
  const store = await openFileStore(folder, { ...owner, files })
  assert.equal(systemFiles.exists(reserve), false)
  await store.close()
})

test('who becomes the owner late has nothing open of what it read before', async (t) => {
  const folder = temporaryFolder(t)
  const limits = { reserveBytes: 0, unlinkSoonestMs: 0, idleMergeAfterMs: 1e9 }
  const before = await openFileStore(folder, { ...owner, limits })
  await before.write(batch('a'), signal)
  await before.flush()
  await before.write(batch('b'), signal)
  await before.close()
  const { files: seen, paths } = openFiles()
  const files = new FailingFiles(seen, (call) => (call === 'write' ? { code: 'ENOSPC' } : null))
  const store = await openFileStore(folder, { ...owner, limits, files })
  assert.equal((await store.findTags(['b'], signal))[0]!.name, 'b')
  await assert.rejects(store.write(batch('c'), signal), { message: /no room to become the owner/ })
  files.plan = () => null
  await untilDone(
    () => store.write(batch('c'), signal),
    (error) => /no room to become the owner/.test(String(error)),
  )
  const openOnes = () => paths.map((path) => path.slice(folder.length)).sort()
  const parts = partsIn(folder).map((name) => `/parts/${name}`)
  assert.equal(parts.length, 1)
  assert.deepEqual(
    openOnes().filter((path) => path.endsWith('.part')),
    parts,
  )
  assert.equal(openOnes().filter((path) => /published/.test(path)).length, 1)
  await store.close()
  assert.deepEqual(paths, [])
})

test('an owner that cannot be opened as a whole leaves nothing open, however often it is tried', async (t) => {
  const folder = temporaryFolder(t)
  const before = await openFileStore(folder, owner)
  await before.write(batch('a'), signal)
  await before.flush()
  await before.close()
  const { files: seen, paths } = openFiles()
  let tries = 0
  const isPublication = (path: string) => /published-/.test(path)
  const files = new FailingFiles(seen, (call, path) => {
    if (call !== 'write' || !isPublication(path)) return null
    tries++
    return { code: 'ENOSPC' }
  })
  const store = await openFileStore(folder, { ...owner, files })
  const first = tries
  const openAt = paths.slice().sort()
  assert.ok(openAt.every((path) => path.endsWith('.part') || isPublication(path)))
  await until(() => tries > first + 1, 'it is tried again')
  await store.close()
  assert.deepEqual(paths, [])
})

test('an owner that cannot be opened leaves no thread, and no file of the system open', {
  skip: openInProcess('') === null && 'the system does not tell what a process has open',
}, async (t) => {
  const folder = temporaryFolder(t)
  const threads = () => readdirSync('/proc/self/task').length
  // Nothing is found there, and nothing can be made.
  const block = (token: number) => symlinkSync('nowhere', join(folder, 'wal', `published-0000000${token}`))
  mkdirSync(join(folder, 'wal'))
  let most = 0
  for (let token = 1; token < 8; token++) {
    block(token)
    await assert.rejects(openFileStore(folder, owner), {
      code: 'DATA_DIR_UNUSABLE',
    })
    // Those of the system itself are there then.
    if (token === 3) most = threads()
  }
  assert.ok(threads() <= most, `${threads()} threads in place of ${most}`)
  assert.deepEqual(openInProcess(folder), [])
})

/** The names of parts in the folder of a historian. */
const partsIn = (folder: string) => readdirSync(join(folder, 'parts'))

test('a part that could not be made known on a full disk is not written a second time', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const store = await openFileStore(folder, { ...owner, files })
  await store.write(batch('a'), signal)
  let failures = 0
  files.plan = (call, path) =>
    call === 'write' && path.includes('manifest') && ++failures > 0 ? { code: 'ENOSPC' } : null
  await assert.rejects(store.flush(), { code: 'WRITE_FAILED', message: /disk is full/ })
  assert.ok(failures > 0)
  const written = partsIn(folder)
  assert.equal(written.length, 1)
  files.plan = (call, path) => (call === 'create' && path.endsWith('.part') ? { code: 'EIO' } : null)
  await store.flush()
  assert.deepEqual(partsIn(folder), written)
  await store.close()
})

test('a merge that could not be made known on a full disk is made known later, and not written a second time', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const merge = { partitionBytes: 1e9, fanIn: 2, largestBytes: 1e9 }
  const limits = { reserveBytes: 0, merge, unlinkSoonestMs: 0, idleMergeAfterMs: 1e9 }
  const store = await openFileStore(folder, { ...owner, files, limits })
  await store.write(batch('a'), signal)
  await store.flush()
  // The edit of the second flush succeeds, that of the merge after it fails.
  let edits = 0
  files.plan = (call, path) =>
    call === 'write' && path.includes('manifest') && edits++ > 0 ? { code: 'ENOSPC' } : null
  await store.write(batch('b'), signal)
  await store.flush()
  assert.ok(edits > 1)
  const written = partsIn(folder).sort()
  assert.equal(written.length, 3)
  files.plan = (call, path) => (call === 'create' && path.endsWith('.part') ? { code: 'EIO' } : null)
  await until(() => partsIn(folder).length === 1, 'the merge counts')
  assert.deepEqual(partsIn(folder), written.slice(-1))
  assert.deepEqual((await store.check(signal)).problems, [])
  await store.close()
})

test('what a repair that was killed left of segments goes at the next start', async (t) => {
  const folder = temporaryFolder(t)
  await (await openFileStore(folder, owner)).close()
  const left = ['00000001-00000001.wal.new', '00000001-00000002.wal.new']
  for (const name of left) writeFileSync(join(folder, 'wal', name), 'a')
  // Nobody else removes it: who only reads may do so beside the repair.
  await (await openFileStore(folder, { ...owner, owner: false })).close()
  assert.deepEqual(readdirSync(join(folder, 'wal')).slice(0, 2), left)
  await (await openFileStore(folder, owner)).close()
  assert.deepEqual(
    readdirSync(join(folder, 'wal')).filter((name) => left.includes(name)),
    [],
  )
})

test('a start removes what no manifest names of its own files, and nothing of somebody else', async (t) => {
  const folder = temporaryFolder(t)
  const start = async () => (await openFileStore(folder, owner)).close()
  for (let token = 1; token <= 3; token++) await start()
  const own = [
    'parts/00000001-00000009.part',
    'catalog/00000001-00000009.tags.new',
    'wal/00000001-00000009.wal',
  ]
  const others = [
    'parts/00000001-00000009.part.bak',
    'parts/1st note.txt',
    'catalog/2.txt',
    'wal/00000001-00000009.wal.old',
    'manifest/manifest-00000001-00000001.bak',
  ]
  for (const name of [...own, ...others]) writeFileSync(join(folder, name), 'x')
  await start()
  const isThere = (name: string) => systemFiles.exists(join(folder, name))
  assert.deepEqual([own.filter(isThere), others.filter(isThere)], [[], others])
})
