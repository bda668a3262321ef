import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { findServer } from '../servers/required.ts'

/** A quota of btrfs binds root as well, which those of other file systems do not. */
const mkfs = findServer('btrfs-progs', '/sbin/mkfs.btrfs', '/usr/sbin/mkfs.btrfs')
const btrfs = findServer('btrfs-progs', 'btrfs', '/usr/bin/btrfs', '/sbin/btrfs')
/** Of the file system; nearly all of it is a hole of its file. */
const DISK_BYTES = 512 * 2 ** 20

/** Why no quota can be set here; false where one can. */
export const noQuota: string | false = tryQuota()

function tryQuota(): string | false {
  if (process.platform !== 'linux') return 'the quota is one of btrfs on Linux'
  if (process.getuid?.() !== 0) return 'only root may mount a btrfs, which has the quota'
  if (mkfs.skip !== false || btrfs.skip !== false) return mkfs.skip || btrfs.skip
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-quota-'))
  try {
    const { undo, failure } = mount(folder, 16)
    undo()
    return failure === null ? false : `no btrfs with a quota can be mounted here: ${failure}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A folder under a quota of so many megabytes, on a disk with room for more, which is gone after the test. */
export function mountQuota(t: TestContext, megabytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-quota-'))
  const { path, undo, failure } = mount(folder, megabytes)
  t.after(() => {
    undo()
    rmSync(folder, { recursive: true })
  })
  if (failure !== null) throw new Error(failure)
  return path
}

function mount(folder: string, megabytes: number) {
  const image = join(folder, 'image')
  const path = join(folder, 'disk')
  const file = openSync(image, 'wx')
  ftruncateSync(file, DISK_BYTES)
  closeSync(file)
  mkdirSync(path)
  const steps: readonly (readonly [string, ...string[]])[] = [
    [mkfs.path!, '--quiet', image],
    ['mount', '-o', 'loop', image, path],
    [btrfs.path!, 'quota', 'enable', path],
    // 5 is the volume itself.
    [btrfs.path!, 'qgroup', 'limit', `${megabytes}M`, '0/5', path],
  ]
  let failure: string | null = null
  for (const [command, ...args] of steps) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
    if (status === 0) continue
    failure = `${command}: ${error?.message ?? stderr.trim()}`
    break
  }
  // What still runs there would keep it.
  const undo = () => void spawnSync('umount', ['--lazy', path])
  return { path, undo, failure }
}
