import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { hardRequest } from './hard-request.ts'
import { findMkfs, LoopDisk, makeImage, noLoopDisk, runAll } from './loop-disk.ts'

const mkfs = findMkfs('ext4')
const { signal } = new AbortController()
/** So many that a request is no small group, over zeros. */
const POINTS = 250
const TAGS = 20

/** An ext4 that stops at an error, as most systems have it; it is gone after the test. */
function makeDisk(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-stopped-'))
  const image = join(folder, 'image')
  makeImage(image, 64 * 2 ** 20)
  assert.equal(runAll([[mkfs.path!, '-q', '-b', '4096', image]]), null)
  const path = join(folder, 'disk')
  mkdirSync(path)
  const disk = new LoopDisk(image, path)
  t.after(() => {
    disk.unmount()
    rmSync(folder, { recursive: true })
  })
  let device = ''
  return {
    path,
    mount: () =>
      disk.mount('errors=remount-ro', (made) => {
        device = basename(made)
      }),
    unmount: () => disk.unmount(),
    /** Has the file system find an error, which gives up its journal. */
    stop: () => writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'a test'),
  }
}

test('a write whose file system stopped amid its sync is unknown, and what was acknowledged is on the disk', {
  skip: noLoopDisk || mkfs.skip,
}, async (t) => {
  const disk = makeDisk(t)
  disk.mount()
  const folder = join(disk.path, 'plant')
  const files = new FailingFiles(systemFiles)
  const store = await openFileStore(folder, { historian: 'plant', owner: true, files })
  const write = (number: number) => store.write(hardRequest(number, TAGS, POINTS), signal)
  const all = { tag: 't0', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
  const countOf = async (from: typeof store) => (await from.readRanges([all], signal))[0]!.points.times.length
  try {
    for (let i = 0; i < 5; i++) await write(i)
    files.plan = (call) => {
      if (call === 'confirm') disk.stop()
      return null
    }
    await assert.rejects(write(5), { code: 'WRITE_OUTCOME_UNKNOWN' })
    files.plan = () => null
    await assert.rejects(write(6), { code: 'WRITE_FAILED' })
    assert.equal(await countOf(store), 5 * POINTS)
  } finally {
    await store.close()
  }
  disk.unmount()
  disk.mount()
  const again = await openFileStore(folder, { historian: 'plant', owner: true })
  try {
    const found = await countOf(again)
    assert.ok(found === 5 * POINTS || found === 6 * POINTS, `${found} points`)
    assert.deepEqual((await again.check(signal)).problems, [])
  } finally {
    await again.close()
  }
})
