import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Command = readonly [string, ...string[]]

/** Makes a file of so many bytes, which is one hole, for a disk. */
export function makeImage(path: string, bytes: number): void {
  const file = openSync(path, 'wx')
  ftruncateSync(file, bytes)
  closeSync(file)
}

/** Why a file cannot be a disk here; false where it can. */
export const noLoopDisk: string | false = tryLoop()

function tryLoop(): string | false {
  if (process.platform !== 'linux') return 'a disk in a file is a loop device of Linux'
  if (process.getuid?.() !== 0) return 'only root may make a loop device, which is the disk'
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-loop-'))
  const image = join(folder, 'image')
  try {
    makeImage(image, 2 ** 20)
    const { status, stdout, stderr } = spawnSync('losetup', ['--find', '--show', image], { encoding: 'utf8' })
    if (status !== 0) return `a loop device, which is the disk, cannot be made here: ${stderr?.trim()}`
    spawnSync('losetup', ['--detach', stdout.trim()])
    return false
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs commands up to the first that fails. @returns what that one said; `null` where none failed */
export function runAll(commands: readonly Command[]): string | null {
  for (const [command, ...args] of commands) {
    const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
    if (status !== 0) return `${command}: ${error?.message ?? `${stderr}${stdout}`.trim()}`
  }
  return null
}

export const mountImage = (image: string, folder: string): Command => ['mount', '-o', 'loop', image, folder]

/** Ends a mount, also where something still runs there, which would keep it. */
export function unmount(folder: string): void {
  spawnSync('umount', ['--lazy', folder])
}
