import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { readAcknowledgements } from './acknowledgements.ts'
import { differenceOf } from './kill-difference.ts'
import { KillModel, WRITERS } from './kill-plan.ts'
import type { KillOrder } from './kill-writer.ts'
import { openHistorian } from './open-historian.ts'
import { type DiskKind, KINDS, SnapshotDisk, skipOf } from './snapshot-disk.ts'

/*
 * A power cut of a real disk while a historian is written (snapshot-disk.ts). What a disk loses that did not keep what
 * it was asked to is tried in power-cut.test.ts.
 */

/** Processes that write, one after the other, and snapshots of the disk of each; SNAPSHOT_LIVES=n. */
const LIVES = Number(process.env.SNAPSHOT_LIVES ?? 3)
const SNAPSHOTS = 4
const PATIENCE_MS = 300_000
const { signal } = new AbortController()

const random = (below: number) => Math.floor(Math.random() * below)

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

async function cutAgainAndAgain(t: TestContext, kind: DiskKind) {
  const disk = new SnapshotDisk(t, kind)
  let life: Life | null = null
  try {
    const folder = join(disk.folder, 'historian')
    let done: readonly number[] = Array.from({ length: WRITERS }, () => 0)
    let later = 0
    for (let number = 0; number < LIVES; number++) {
      life = new Life(folder, done)
      for (let snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
        await life.answers(1 + random(200))
        const before = [...life.acknowledged]
        const clone = disk.clone()
        // What was answered meanwhile is read from the pipe, and of each writer one request was on its way.
        await life.answers(WRITERS)
        const after = life.acknowledged.map((sequence) => sequence + 1)
        const there = await disk.withClone(clone, (mounted) =>
          assertMoment(join(mounted, 'historian'), before, after),
        )
        if (there.some((sequence, writer) => sequence > before[writer]!)) later++
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
    disk.close()
  }
}

for (const kind of KINDS) {
  test(
    `a power cut at any moment leaves all that was acknowledged on a real disk: ${kind.name}`,
    {
      skip: skipOf(kind),
    },
    (t) => cutAgainAndAgain(t, kind),
  )
}
