import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { DatabaseAliasStore } from '../../src/storage/system/alias-database.ts'
import { DatabaseKeyStore } from '../../src/storage/system/key-database.ts'
import { openSystemDatabase } from '../../src/storage/system/system-database.ts'
import { type DiskKind, KINDS, SnapshotDisk, skipOf } from './snapshot-disk.ts'
import { keyOf, stateAfter } from './system-plan.ts'

/* A power cut of a real disk while keys and aliases are changed (snapshot-disk.ts). */

/** Processes that write, one after the other, and snapshots of the disk of each; SNAPSHOT_LIVES=n. */
const LIVES = Number(process.env.SNAPSHOT_LIVES ?? 2)
const SNAPSHOTS = 4
const PATIENCE_MS = 120_000

const random = (below: number) => Math.floor(Math.random() * below)

/** A process that makes changes until it is killed. */
class Life {
  /** Number of the last change that was told to be made. */
  acknowledged: number
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(folder: string, done: number) {
    this.acknowledged = done
    const args = [join(import.meta.dirname, 'system-writer.ts'), folder, String(done + 1)]
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
    createInterface(this.#child.stdout!).on('line', (line) => {
      this.acknowledged = Number(line)
    })
  }

  /** Resolves when so many more changes were told to be made. */
  async makes(more: number): Promise<void> {
    const wanted = this.acknowledged + more
    for (let waited = 0; this.acknowledged < wanted; waited++) {
      assert.ok(waited < PATIENCE_MS && this.#child.exitCode === null, 'it goes on')
      await delay(1)
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

/** Keys and aliases are those after some number of changes, of which it gives how many. */
async function assertMoment(folder: string, from: number, to: number): Promise<number> {
  const database = await openSystemDatabase(systemFiles, folder, { create: false })
  try {
    assert.deepEqual(database.check(), [])
    const keys = new DatabaseKeyStore(database)
    const aliases = new DatabaseAliasStore(database)
    const listed = await aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 1_000 }))
    const found = {
      keys: (await keys.list()).map(({ name }) => name).sort(),
      aliases: new Map(listed.map(({ name, tag }) => [name, tag])),
    }
    for (let count = from; count <= to; count++) {
      const { keys: names, aliases: tags } = stateAfter(count)
      if (names.length !== found.keys.length || tags.size !== found.aliases.size) continue
      if ([...tags].some(([name, tag]) => found.aliases.get(name) !== tag)) continue
      assert.deepEqual(found.keys, names.toSorted())
      const last = names.length === 0 ? null : keyOf(5 * names.length)
      if (last !== null) assert.deepEqual(await keys.find(last.digest), last.record)
      return count
    }
    assert.fail(`no state from ${from} to ${to} changes: ${JSON.stringify([...found.aliases])}`)
  } finally {
    database.close()
  }
}

async function cutAgainAndAgain(t: TestContext, kind: DiskKind) {
  const disk = new SnapshotDisk(t, kind)
  let life: Life | null = null
  try {
    const folder = join(disk.folder, 'system')
    let done = 0
    let later = 0
    for (let number = 0; number < LIVES; number++) {
      life = new Life(folder, done)
      for (let snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
        await life.makes(1 + random(100))
        const before = life.acknowledged
        const clone = disk.clone()
        // What was told meanwhile is read from the pipe, and one change was on its way.
        await life.makes(1)
        const after = life.acknowledged + 1
        const there = await disk.withClone(clone, (mounted) =>
          assertMoment(join(mounted, 'system'), before, after),
        )
        if (there > before) later++
      }
      await life.kill()
      const { acknowledged } = life
      life = null
      done = await assertMoment(folder, acknowledged, acknowledged + 1)
    }
    t.diagnostic(
      `${LIVES * SNAPSHOTS} snapshots, ${done} changes; ${later} have some that were told amid the clone`,
    )
  } finally {
    await life?.kill()
    disk.close()
  }
}

for (const kind of KINDS) {
  test(
    `a power cut at any moment leaves all changes of keys and aliases that were made on a real disk: ${kind.name}`,
    {
      skip: skipOf(kind),
    },
    (t) => cutAgainAndAgain(t, kind),
  )
}
