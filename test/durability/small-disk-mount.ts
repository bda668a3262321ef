import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { isWithoutSpace } from '../../src/storage/files/files.ts'

/** Why no small disk can be made here; false where one can. */
export const noSmallDisk: string | false = tryMount()

function tryMount(): string | false {
  if (process.platform !== 'linux') return 'a small disk is a tmpfs of Linux'
  if (process.getuid?.() !== 0) return 'only root may mount a tmpfs, which is the small disk'
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-disk-'))
  try {
    const { status, stderr } = mount(folder, 1)
    if (status !== 0) return `a tmpfs, which is the small disk, cannot be mounted here: ${stderr.trim()}`
    spawnSync('umount', [folder])
    return false
  } finally {
    rmdirSync(folder)
  }
}

/** A file system of so many megabytes, which is gone after the test. */
export function mountSmallDisk(t: TestContext, megabytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-disk-'))
  const { status, stderr } = mount(folder, megabytes)
  if (status !== 0) throw new Error(`mount: ${stderr}`)
  t.after(() => {
    // What still runs there would keep it.
    spawnSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  return folder
}

function mount(folder: string, megabytes: number) {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tidemark-test', folder], {
    encoding: 'utf8',
  })
}

/** Fills a disk, or a quota, to the last byte with a file. */
export function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const size of [65_536, 4_096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size))
      } catch (error) {
        if (!isWithoutSpace(error)) throw error
      }
    }
  } finally {
    closeSync(file)
  }
}
