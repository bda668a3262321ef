import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { findServer } from '../servers/required.ts'
import { findMkfs, LoopDisk, makeImage, noLoopDisk, runAll } from './loop-disk.ts'
import { mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

/*
 * A disk that has less storage than it says, as a thin volume or the disk of a virtual machine may: the kernel takes
 * what is written, and syncs fail. What it could not write stays in its memory and is taken for written from then on,
 * so that a process reads what is not on the disk: it is mounted again to see what is.
 */

const mkfs = findMkfs('ext4')
const fsck = findServer('e2fsprogs', '/sbin/e2fsck', '/usr/sbin/e2fsck')
const PATIENCE_MS = 300_000
const POINTS_OF_REQUEST = 250
const { signal } = new AbortController()

interface Told {
  /** Outcomes before there was room again. */
  readonly before: number
  readonly outcomes: readonly { readonly number: number; readonly code: string }[]
  /** Requests of which points were read then. */
  readonly stored: readonly number[]
}

const numbersOf = ({ outcomes }: Told, wanted: string) =>
  outcomes.filter(({ code }) => code === wanted).map(({ number }) => number)

class ThinDisk {
  readonly folder: string
  /** Takes much of the storage as long as it is there. */
  readonly filler: string
  readonly #image: string
  readonly #disk: LoopDisk

  constructor(t: TestContext, features: readonly string[]) {
    const storage = mountSmallDisk(t, 40)
    this.#image = join(storage, 'image')
    this.filler = join(storage, 'filler')
    this.folder = join(storage, 'disk')
    this.#disk = new LoopDisk(this.#image, this.folder)
    makeImage(this.#image, 256 * 2 ** 20)
    writeFileSync(this.filler, Buffer.alloc(12 * 2 ** 20))
    mkdirSync(this.folder)
    const make = ['-q', '-b', '4096', '-m', '0', '-N', '1024', '-E', 'nodiscard', ...features, this.#image]
    assert.equal(runAll([[mkfs.path!, ...make]]), null)
  }

  mount(): void {
    // A loop device says of a write whose end finds no storage that it is done; one of a page has no such end.
    this.#disk.mount('rw', (device) =>
      writeFileSync(`/sys/block/${basename(device)}/queue/max_sectors_kb`, '4'),
    )
  }

  /** Nothing where it is not mounted. */
  unmount(): void {
    this.#disk.unmount()
  }

  repair(): void {
    const { status, stdout } = spawnSync(fsck.path!, ['-f', '-y', this.#image], { encoding: 'utf8' })
    // 1 is for errors that were corrected.
    assert.ok(status === 0 || status === 1, `e2fsck ended with ${status}: ${stdout}`)
  }
}

/** Has the storage of a disk run out amid writes, and sees what is on it then. @returns counts of requests */
async function runOut(disk: ThinDisk): Promise<string> {
  disk.mount()
  const folder = join(disk.folder, 'plant')
  const script = join(import.meta.dirname, 'thin-disk.ts')
  const limits = { encoding: 'utf8', timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, folder, disk.filler], limits)
  assert.equal(status, 0, stderr)
  const told: Told = JSON.parse(stdout.trim().split('\n').at(-1)!)
  const acknowledged = numbersOf(told, 'ok')
  const unknown = numbersOf(told, 'WRITE_OUTCOME_UNKNOWN')
  const failed = numbersOf(told, 'WRITE_FAILED')
  assert.equal(acknowledged.length + unknown.length + failed.length, told.outcomes.length)
  assert.ok(acknowledged.length > 50 && failed.length > 0, stdout)
  assert.deepEqual(
    told.stored,
    acknowledged.filter((number) => number < told.before),
  )
  disk.unmount()
  disk.repair()
  disk.mount()
  const store = await openFileStore(folder, { historian: 'plant', owner: true })
  try {
    for (const tag of ['t0', 't19']) {
      const all = { tag, from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
      const [read] = await store.readRanges([all], signal)
      const found = new Set([...read!.points.times].map((time) => Math.floor(time / POINTS_OF_REQUEST)))
      assert.equal(read!.points.times.length, found.size * POINTS_OF_REQUEST, 'no request is there in part')
      assert.deepEqual(
        acknowledged.filter((number) => !found.has(number)),
        [],
      )
      assert.deepEqual(found.difference(new Set([...acknowledged, ...unknown])), new Set())
    }
    assert.deepEqual((await store.check(signal)).problems, [])
  } finally {
    await store.close()
  }
  const counts = `${acknowledged.length} requests were acknowledged, ${unknown.length} are unknown`
  return `${counts}, ${failed.length} failed`
}

for (const [name, features] of [
  ['without a journal', ['-O', '^has_journal']],
  ['with a journal', []],
] as const) {
  test(`what was acknowledged is on a disk whose storage ran out, when it is mounted again: ext4 ${name}`, {
    skip: noSmallDisk || noLoopDisk || mkfs.skip || fsck.skip,
  }, async (t) => {
    const disk = new ThinDisk(t, features)
    try {
      t.diagnostic(await runOut(disk))
    } finally {
      // Before the storage goes, which ends with the test.
      disk.unmount()
    }
  })
}
