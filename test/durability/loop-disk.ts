import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findServer } from '../servers/required.ts'

type Command = readonly [string, ...string[]]

/** The program that makes a file system. */
export const findMkfs = (kind: 'btrfs' | 'ext4' | 'xfs') =>
  findServer(PACKAGES[kind], `/sbin/mkfs.${kind}`, `/usr/sbin/mkfs.${kind}`)

const PACKAGES = { btrfs: 'btrfs-progs', ext4: 'e2fsprogs', xfs: 'xfsprogs' } as const

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

/** A disk in a file, mounted in a folder. */
export class LoopDisk {
  readonly folder: string
  readonly #image: string
  #device: string | null = null

  /** @param folder  where it is mounted; it is there */
  constructor(image: string, folder: string) {
    this.#image = image
    this.folder = folder
  }

  /** @param prepare  gets the device before it is mounted */
  mount(options = 'rw', prepare: (device: string) => void = () => {}): void {
    const find = ['--find', '--show', this.#image]
    this.#device = execFileSync('losetup', find, { encoding: 'utf8' }).trim()
    prepare(this.#device)
    assert.equal(runAll([['mount', '-o', options, this.#device, this.folder]]), null)
  }

  /** Nothing where it is not mounted. */
  unmount(): void {
    const device = this.#device
    if (device === null) return
    this.#device = null
    const commands = [['umount', this.folder] as const, ['losetup', '--detach', device] as const]
    assert.equal(runAll(commands), null)
  }
}

export const mountImage = (image: string, folder: string): Command => ['mount', '-o', 'loop', image, folder]

/** Ends a mount, also where something still runs there, which would keep it. */
export function unmount(folder: string): void {
  spawnSync('umount', ['--lazy', folder])
}
