import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { readAcknowledgements } from './acknowledgements.ts'
import { temporaryFolder } from './folder.ts'
import { differenceOf } from './kill-difference.ts'
import { KillModel, WRITERS } from './kill-plan.ts'
import type { KillOrder } from './kill-writer.ts'
import { findMkfs, LoopDisk, makeImage, noLoopDisk, runAll } from './loop-disk.ts'
import { openHistorian } from './open-historian.ts'

/*
 * What a power cut leaves on a real disk: the disk is a file that is cloned at once (a reflink of btrfs) while a
 * historian is written, and the clone is mounted as after a power cut. It has what the kernel had written by then, and
 * nothing of the page cache. What a disk loses that did not keep what it was asked to is tried in power-cut.test.ts.
 */

/** Processes that write, one after the other, and snapshots of the disk of each; SNAPSHOT_LIVES=n. */
const LIVES = Number(process.env.SNAPSHOT_LIVES ?? 3)
const SNAPSHOTS = 4
const PATIENCE_MS = 300_000
const { signal } = new AbortController()

const btrfs = findMkfs('btrfs')
const KINDS = [
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

const random = (below: number) => Math.floor(Math.random() * below)

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

/** A process that writes until it is killed. */
class Life {
  /** Of each writer, the last request that was answered. */
  readonly acknowledged: number[]
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(folder: string, done: readonly number[]) {
    this.acknowledged = [...done]
    this.#child = fork(join(import.meta.dirname, 'kill-writer.ts'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
    })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
    readAcknowledgements(this.#child.stdio[4] as Readable, (writer, sequence) => {
      this.acknowledged[writer] = sequence
    })
    const flush = {
      points: [500, 5_000][random(2)]!,
      records: [20, 200][random(2)]!,
      ageMs: 1 + random(20),
      packedAside: [1, 1e9][random(2)]!,
    }
    this.#child.once('message', () =>
      this.#child.send({ folder, done, flush, copies: null } satisfies KillOrder),
    )
  }

  /** Resolves when so many more requests were answered. */
  async answers(more: number): Promise<void> {
    const count = () => this.acknowledged.reduce((sum, sequence) => sum + sequence, 0)
    const wanted = count() + more
    for (let waited = 0; count() < wanted; waited++) {
      assert.ok(waited < PATIENCE_MS && this.#child.exitCode === null, 'it goes on')
      await delay(1)
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

/**
 * A historian has all requests of each writer up to one.
 * @param from  that were answered before
 * @param to    that may be there
 * @returns     up to which they are there
 */
async function assertMoment(
  folder: string,
  from: readonly number[],
  to: readonly number[],
): Promise<readonly number[]> {
  const store = await openHistorian(folder, true, { points: 500, records: 20, ageMs: 10, packedAside: 1 })
  try {
    assert.deepEqual((await store.check(signal)).problems, [])
    const found: number[] = []
    for (let writer = 0; writer < WRITERS; writer++) {
      const model = new KillModel(writer)
      model.advanceTo(from[writer]!)
      for (;;) {
        const difference = await differenceOf(store, writer, model)
        if (difference === null) break
        const where = `writer ${writer} after ${from[writer]} requests: ${difference}`
        assert.ok(model.sequence < to[writer]!, where)
        model.advanceTo(model.sequence + 1)
      }
      found.push(model.sequence)
    }
    return found
  } finally {
    await store.close()
  }
}

async function cutAgainAndAgain(t: TestContext, { name, mkfs, make, options }: (typeof KINDS)[number]) {
  const base = temporaryFolder(t)
  const disks = new Disks()
  let life: Life | null = null
  try {
    const outer = join(base, 'outer')
    makeImage(outer, 2 ** 31)
    assert.equal(runAll([[btrfs.path!, '--quiet', outer]]), null)
    const room = disks.mount(outer, 'rw')
    const image = join(room, name)
    makeImage(image, 400 * 2 ** 20)
    assert.equal(runAll([[mkfs.path!, ...make, image]]), null)
    const folder = join(disks.mount(image, 'rw'), 'historian')
    let done: readonly number[] = Array.from({ length: WRITERS }, () => 0)
    let later = 0
    for (let number = 0; number < LIVES; number++) {
      life = new Life(folder, done)
      for (let snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
        await life.answers(1 + random(200))
        const clone = join(room, `${name}-${number}-${snapshot}`)
        const before = [...life.acknowledged]
        assert.equal(runAll([['cp', '--reflink=always', image, clone]]), null)
        // What was answered meanwhile is read from the pipe, and of each writer one request was on its way.
        await life.answers(WRITERS)
        const after = life.acknowledged.map((sequence) => sequence + 1)
        const there = await assertMoment(join(disks.mount(clone, options), 'historian'), before, after)
        if (there.some((sequence, writer) => sequence > before[writer]!)) later++
        disks.unmount(clone)
        rmSync(clone)
      }
      await life.kill()
      const acknowledged = life.acknowledged
      life = null
      done = await assertMoment(
        folder,
        acknowledged,
        acknowledged.map((sequence) => sequence + 1),
      )
    }
    t.diagnostic(
      `${LIVES * SNAPSHOTS} snapshots, ${done.join(' + ')} requests; ${later} have some that were answered amid the clone`,
    )
  } finally {
    await life?.kill()
    disks.unmountAll()
  }
}

for (const kind of KINDS) {
  test(
    `a power cut at any moment leaves all that was acknowledged on a real disk: ${kind.name}`,
    {
      skip: noLoopDisk || btrfs.skip || kind.mkfs.skip,
    },
    (t) => cutAgainAndAgain(t, kind),
  )
}
