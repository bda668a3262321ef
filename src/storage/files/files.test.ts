import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { randomOf } from '../../../test/durability/random.ts'
import { PowerCut, SimulatedDisk } from '../../../test/durability/simulated-disk.ts'
import { systemCode } from '../../errors/system-code.ts'
import { failureOf } from '../background-thread.ts'
import { FailingFiles } from './failing-files.fixture.ts'
import { isDiskError, isGone, isWithoutSpace, makeFolderDurably, readFile } from './files.ts'
import { reasonOf } from './refusals.ts'
import { systemFiles } from './system-files.ts'

/** What touches files by itself: the layer. node:sqlite opens the files that it is given itself. */
const ALLOWED = /^files[\\/]/

test('only the files room speaks to node:fs', () => {
  const storage = join(import.meta.dirname, '..')
  const found = globSync('**/*.ts', { cwd: storage }).filter(
    (file) => !/\.(test|fixture)\.ts$/.test(file) && !ALLOWED.test(file),
  )
  const speaking = found.filter((file) =>
    /from '(node:)?fs(\/promises)?'|import\('(node:)?fs/.test(readFileSync(join(storage, file), 'utf8')),
  )
  assert.ok(found.length > 100, 'files were looked at')
  assert.deepEqual(speaking, [])
})

test('what is written and synced is read again', async (t) => {
  const folder = join(temporaryFolder(t), 'a', 'b')
  systemFiles.makeFolder(folder)
  const path = join(folder, 'file')
  const file = systemFiles.create(path)
  file.writeNow(Buffer.from('abcd'), 0)
  await file.write(Buffer.from('XY'), 4)
  await file.sync()
  file.syncNow()
  systemFiles.syncFolder(folder)
  const bytes = new Uint8Array(10)
  assert.equal(file.readNow(bytes, 1), 5)
  assert.equal(await file.read(bytes, 1), 5)
  assert.equal(Buffer.from(bytes.subarray(0, 5)).toString(), 'bcdXY')
  file.truncateNow(3)
  assert.equal(file.size(), 3)
  file.close()
  assert.equal(Buffer.from(readFile(systemFiles, path)).toString(), 'abc')
  assert.throws(() => systemFiles.create(path), { code: 'EEXIST' })
})

test('beside this thread a file is removed and a folder synced, and a missing file is nothing', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'file')
  systemFiles.create(path).close()
  await systemFiles.removeAside(path)
  assert.equal(systemFiles.exists(path), false)
  await systemFiles.removeAside(path)
  await systemFiles.syncFolderAside(folder)
})

test('names are listed in order, and a missing folder has none', (t) => {
  const folder = temporaryFolder(t)
  assert.deepEqual(systemFiles.list(join(folder, 'none')), [])
  for (const name of ['b', 'a']) systemFiles.create(join(folder, name)).close()
  systemFiles.link(join(folder, 'a'), join(folder, 'c'))
  systemFiles.rename(join(folder, 'b'), join(folder, 'd'))
  systemFiles.remove(join(folder, 'none'))
  assert.deepEqual(systemFiles.list(folder), ['a', 'c', 'd'])
  assert.ok(systemFiles.freeBytes(folder) > 0)
})

test('a file system that does not say how large it is has room for all', {
  skip: process.platform !== 'linux' && '/proc of Linux is such a file system',
}, () => {
  assert.equal(systemFiles.freeBytes('/proc'), Number.POSITIVE_INFINITY)
})

test('the layer for tests fails where it is told, and may write half', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const file = files.create(join(folder, 'file'))
  files.plan = (call) => (call === 'write' ? { code: 'ENOSPC', short: true } : null)
  let error: unknown
  try {
    file.writeNow(Buffer.from('abcd'), 0)
  } catch (met) {
    error = met
  }
  assert.equal(systemCode(error), 'ENOSPC')
  assert.ok(isWithoutSpace(error))
  assert.equal(file.size(), 2)
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  await assert.rejects(file.sync(), { code: 'EIO' })
  files.plan = () => null
  await file.write(Buffer.from('abcd'), 0)
  assert.equal(file.size(), 4)
  file.close()
})

test('errors of the system that Node has no word for are known by their numbers', {
  skip: process.platform === 'win32' && 'such numbers are those of POSIX systems',
}, () => {
  // As Node says it in calls that block, and in others: seen on btrfs with a quota.
  const blocking = { code: 'UNKNOWN', errno: -constants.errno.EDQUOT, syscall: 'write' }
  const other = { code: `Unknown system error -${constants.errno.EDQUOT}`, errno: -constants.errno.EDQUOT }
  for (const error of [blocking, other]) {
    assert.equal(systemCode(Object.assign(new Error('unknown error'), error)), 'EDQUOT')
    assert.ok(isWithoutSpace(error))
    assert.equal(reasonOf(error), 'the disk quota is used up')
    assert.deepEqual(failureOf(Object.assign(new Error('unknown error'), error)).code, 'EDQUOT')
  }
  assert.ok(isGone({ code: 'UNKNOWN', errno: -constants.errno.ESTALE }))
  assert.ok(isDiskError({ code: 'UNKNOWN', errno: -constants.errno.EBADMSG }))
  assert.equal(systemCode({ code: 'UNKNOWN', errno: -9_999 }), 'E9999')
  assert.equal(systemCode({ code: 'ABORT_ERR' }), 'ABORT_ERR')
  assert.equal(systemCode({ code: 20, errno: -constants.errno.EDQUOT }), '')
})

test('folders are there after a power cut also where who made them was killed at any moment', (t) => {
  const path = '/data/historians/plant/wal/file'
  for (let killedAt = 0; ; killedAt++) {
    const disk = new SimulatedDisk()
    disk.cutAt = killedAt
    const make = () => makeFolderDurably(disk, dirname(path))
    try {
      make()
      t.diagnostic(`${killedAt} moments`)
      assert.ok(killedAt > 8)
      return
    } catch (error) {
      assert.ok(error instanceof PowerCut)
    }
    disk.cutAt = Number.POSITIVE_INFINITY
    make()
    const file = disk.create(path)
    file.syncNow()
    disk.syncFolder(dirname(path))
    for (let cut = 0; cut < 20; cut++) {
      assert.ok(disk.afterCut(randomOf(cut)).exists(path), `cut ${cut} after a kill at call ${killedAt}`)
    }
  }
})

test('a folder that is there may stand in one that cannot be read, and none is made in such a one', (t) => {
  const folder = join(temporaryFolder(t), 'a')
  const shut = {
    ...systemFiles,
    syncFolder() {
      throw Object.assign(new Error('no permission'), { code: 'EACCES' })
    },
  }
  assert.throws(() => makeFolderDurably(shut, folder), { code: 'EACCES' })
  systemFiles.makeFolder(folder)
  makeFolderDurably(shut, folder)
  assert.throws(() => makeFolderDurably(shut, join(folder, 'b')), { code: 'EACCES' })
})

test('a folder is made in those that are missing, by several at once, and not in place of a file', (t) => {
  const folder = join(temporaryFolder(t), 'a', 'b')
  for (let i = 0; i < 2; i++) systemFiles.makeFolder(folder)
  assert.ok(systemFiles.isFolder(folder))
  let looks = 0
  const late = { ...systemFiles, isFolder: (path: string) => looks++ > 0 && systemFiles.isFolder(path) }
  makeFolderDurably(late, folder)
  systemFiles.create(join(folder, 'file')).close()
  assert.throws(() => systemFiles.makeFolder(join(folder, 'file')), { code: 'EEXIST' })
  assert.throws(() => systemFiles.makeFolder(join(folder, 'file', 'c')), { code: 'EEXIST' })
})
