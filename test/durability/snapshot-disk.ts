import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from './folder.ts'
import { findMkfs, LoopDisk, makeImage, noLoopDisk, runAll } from './loop-disk.ts'

/*
 * What a power cut leaves on a real disk: the disk is a file that is cloned at once (a reflink of btrfs) while it is
 * written, and the clone is mounted as after a power cut. It has what the kernel had written by then, and nothing of
 * the page cache.
 */

const btrfs = findMkfs('btrfs')
/** File systems of the disk that is cloned. */
export const KINDS = [
  {
    name: 'ext4',
    mkfs: findMkfs('ext4'),
    make: ['-q', '-E', 'nodiscard'],
    options: 'rw',
  },
  {
    name: 'xfs',
    mkfs: findMkfs('xfs'),
    make: ['-q', '-K'],
    // The clone has the identity of the disk, which is mounted, too.
    options: 'nouuid',
  },
] as const

export type DiskKind = (typeof KINDS)[number]

/** Why such disks cannot be made here; `false` where they can. */
export const skipOf = ({ mkfs }: DiskKind) => noLoopDisk || btrfs.skip || mkfs.skip

/** Disks in files, each mounted beside its file. */
class Disks {
  readonly #disks = new Map<string, LoopDisk>()

  /** @returns  where it is mounted */
  mount(image: string, options: string): string {
    const disk = new LoopDisk(image, `${image}.mounted`)
    mkdirSync(disk.folder)
    this.#disks.set(image, disk)
    disk.mount(options)
    return disk.folder
  }

  unmount(image: string): void {
    const disk = this.#disks.get(image)!
    this.#disks.delete(image)
    disk.unmount()
    rmSync(disk.folder, { recursive: true })
  }

  /** The last one first: one may stand on another. */
  unmountAll(): void {
    for (const image of [...this.#disks.keys()].reverse()) this.unmount(image)
  }
}

/** A disk that is written, and its clones. */
export class SnapshotDisk {
  /** Where it is mounted. */
  readonly folder: string
  readonly #disks = new Disks()
  readonly #kind: DiskKind
  readonly #room: string
  readonly #image: string
  #clones = 0

  constructor(t: TestContext, kind: DiskKind) {
    this.#kind = kind
    const outer = join(temporaryFolder(t), 'outer')
    try {
      makeImage(outer, 2 ** 31)
      assert.equal(runAll([[btrfs.path!, '--quiet', outer]]), null)
      this.#room = this.#disks.mount(outer, 'rw')
      this.#image = join(this.#room, kind.name)
      makeImage(this.#image, 400 * 2 ** 20)
      assert.equal(runAll([[kind.mkfs.path!, ...kind.make, this.#image]]), null)
      this.folder = this.#disks.mount(this.#image, 'rw')
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** The disk as it is at this moment, a file. */
  clone(): string {
    const clone = join(this.#room, `${this.#kind.name}-${this.#clones++}`)
    assert.equal(runAll([['cp', '--reflink=always', this.#image, clone]]), null)
    return clone
  }

  /** Mounts a clone for some work, and removes it. */
  async withClone<T>(clone: string, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = this.#disks.mount(clone, this.#kind.options)
    const result = await work(folder)
    this.#disks.unmount(clone)
    rmSync(clone)
    return result
  }

  close(): void {
    this.#disks.unmountAll()
  }
}
