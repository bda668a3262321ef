import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { findServer } from '../servers/required.ts'
import { findMkfs, makeImage, mountImage, noLoopDisk, runAll, unmount } from './loop-disk.ts'

/** A quota of btrfs binds root as well, which those of other file systems do not. */
const mkfs = findMkfs('btrfs')
const btrfs = findServer('btrfs-progs', 'btrfs', '/usr/bin/btrfs', '/sbin/btrfs')
/** Of the file system; nearly all of it is a hole of its file. */
const DISK_BYTES = 512 * 2 ** 20

/** Why no quota can be set here; false where one can. */
export const noQuota: string | false = tryQuota()

function tryQuota(): string | false {
  if (noLoopDisk !== false) return noLoopDisk
  if (mkfs.skip !== false || btrfs.skip !== false) return mkfs.skip || btrfs.skip
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-quota-'))
  try {
    const { path, failure } = mount(folder, 16)
    unmount(path)
    return failure === null ? false : `no btrfs with a quota can be mounted here: ${failure}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A folder under a quota of so many megabytes, on a disk with room for more, which is gone after the test. */
export function mountQuota(t: TestContext, megabytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-quota-'))
  const { path, failure } = mount(folder, megabytes)
  t.after(() => {
    unmount(path)
    rmSync(folder, { recursive: true })
  })
  if (failure !== null) throw new Error(failure)
  return path
}

function mount(folder: string, megabytes: number) {
  const image = join(folder, 'image')
  const path = join(folder, 'disk')
  makeImage(image, DISK_BYTES)
  mkdirSync(path)
  const failure = runAll([
    [mkfs.path!, '--quiet', image],
    mountImage(image, path),
    [btrfs.path!, 'quota', 'enable', path],
    // 5 is the volume itself.
    [btrfs.path!, 'qgroup', 'limit', `${megabytes}M`, '0/5', path],
  ])
  return { path, failure }
}
