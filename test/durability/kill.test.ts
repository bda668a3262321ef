import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { FlushLimits } from '../../src/storage/engine/engine-limits.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { readAcknowledgements } from './acknowledgements.ts'
import { temporaryFolder } from './folder.ts'
import { differenceOf } from './kill-difference.ts'
import { KillModel, WRITERS } from './kill-plan.ts'
import type { KillOrder } from './kill-writer.ts'
import { openHistorian } from './open-historian.ts'

/** Rounds of kill and restart; a soak with KILL_ROUNDS=n. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 30)
/** A process that does not do what it is told is killed after so long, which fails the test. */
const PATIENCE_MS = 300_000
/** In one of so many rounds it is copied while it is written. */
const COPIED = 3
/** Processes that have started and wait for their turn: starting takes longer than a round. */
const READY = 2

const { signal } = new AbortController()

const random = (below: number) => Math.floor(Math.random() * below)

/** The memory is flushed all the time, whatever is in it. */
const randomLimits = (): FlushLimits => ({
  points: [5, 500, 5_000][random(3)]!,
  records: [2, 20, 200][random(3)]!,
  ageMs: 1 + random(20),
  packedAside: [1, 1e9][random(2)]!,
})

const started = new Set<ChildProcess>()
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** What is killed is compiled once. */
const CACHE = join(tmpdir(), 'tidemark-compiled')

class Writer {
  readonly #child: ChildProcess
  readonly #ready: Promise<unknown>
  readonly #ended: Promise<unknown>

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'kill-writer.ts'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
    })
    started.add(this.#child)
    // Nobody is told that it has ended before this has.
    ;(this.#child.stdio[4] as Readable).resume()
    this.#ready = new Promise((resolve) => this.#child.once('message', resolve))
    // Also its acknowledgements have come to their end.
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  /** Writes for a moment, is killed, and gives the last request of each writer that was acknowledged. */
  async writeAndDie(order: KillOrder): Promise<number[]> {
    const acknowledged = [...order.done]
    const pipe = this.#child.stdio[4] as Readable
    let left = 1 + random(40)
    await this.#ready
    await new Promise<void>((resolve, reject) => {
      readAcknowledgements(pipe, (writer, sequence) => {
        acknowledged[writer] = sequence
        left--
        if (left <= 0) resolve()
      })
      this.#ended.then(() => reject(new Error('the writer ended by itself')))
      const limit = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE_MS)
      this.#ended.then(() => clearTimeout(limit))
      this.#child.send(order)
      // Now and then while it opens the historian and takes up what the one before it left.
      if (random(5) === 0) setTimeout(resolve, Math.random() * 50)
    })
    await delay(Math.random() * 4)
    await this.kill()
    return acknowledged
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
    started.delete(this.#child)
  }
}

async function assertAll(store: FileStore, models: readonly KillModel[]): Promise<void> {
  for (const [writer, model] of models.entries()) assert.equal(await differenceOf(store, writer, model), null)
}

/**
 * Compares the last finished copy, and looks at the one that the kill fell upon: it is whole, or none.
 * @param done    the last request of each writer before the process began
 * @param models  what was acknowledged by it
 */
async function assertCopies(
  folder: string,
  done: readonly number[],
  models: readonly KillModel[],
): Promise<number> {
  const copies = existsSync(folder) ? readdirSync(folder).toSorted() : []
  for (const [index, name] of copies.entries()) {
    if (index < copies.length - 2) continue
    const copy = join(folder, name)
    const isWhole = existsSync(join(copy, 'manifest')) && readdirSync(join(copy, 'manifest')).some(isManifest)
    assert.ok(isWhole || index === copies.length - 1, `${name} of ${copies.length} copies is not whole`)
    if (!isWhole) continue
    const store = await openHistorian(copy, true, randomLimits())
    assert.deepEqual((await store.check(signal)).problems, [])
    for (const [writer, { sequence }] of models.entries()) {
      const model = new KillModel(writer)
      model.advanceTo(done[writer]!)
      // One moment of the writer: after some request, whole.
      while ((await differenceOf(store, writer, model)) !== null) {
        assert.ok(model.sequence < sequence, `copy ${name} is of no moment of writer ${writer}`)
        model.advanceTo(model.sequence + 1)
      }
    }
    await store.close()
  }
  rmSync(folder, { recursive: true, force: true })
  return copies.length
}

const isManifest = (name: string) => /^manifest-[0-9a-f-]+$/.test(name)

async function killAgainAndAgain(t: TestContext, rounds: number, where: string): Promise<void> {
  const base = temporaryFolder(t, where)
  const folder = join(base, 'historian')
  const models = Array.from({ length: WRITERS }, (_, writer) => new KillModel(writer))
  const waiting: Writer[] = []
  t.after(() => Promise.all(waiting.map((writer) => writer.kill())))
  let unanswered = 0
  let copies = 0
  for (let round = 0; round < rounds; round++) {
    while (waiting.length <= READY && waiting.length < rounds - round) waiting.push(new Writer())
    const done = models.map(({ sequence }) => sequence)
    const acknowledged = await waiting.shift()!.writeAndDie({
      folder,
      done,
      flush: randomLimits(),
      copies: round % COPIED === 0 ? join(base, `copies-${round}`) : null,
    })

    // The dead owner does not stand in the way.
    const store = await openHistorian(folder, true, randomLimits())
    for (const [writer, model] of models.entries()) {
      model.advanceTo(acknowledged[writer]!)
      if ((await differenceOf(store, writer, model)) === null) continue
      // One request was on its way: it may be there, wholly.
      model.advanceTo(acknowledged[writer]! + 1)
      unanswered++
      assert.equal(await differenceOf(store, writer, model), null, `round ${round}`)
    }
    if (round % 5 === 0) {
      await store.flush()
      await assertAll(store, models)
    }
    if (round % 3 === 0) {
      const beside = await openHistorian(folder, false, randomLimits())
      await assertAll(beside, models)
      await beside.close()
    }
    if (round % 5 === 0 || round === rounds - 1) assert.deepEqual((await store.check(signal)).problems, [])
    await store.close()
    if (round % COPIED === 0) copies += await assertCopies(join(base, `copies-${round}`), done, models)
  }
  const requests = models.map(({ sequence }) => sequence)
  assert.ok(
    requests.every((sequence) => sequence > rounds),
    `every writer had its turn: ${requests}`,
  )
  t.diagnostic(
    `${rounds} kills, ${requests.join(' + ')} requests, ${unanswered} of them there without an answer, ${copies} copies`,
  )
}

/**
 * A kill loses nothing that was written, on disk or not; where nothing waits for a disk, more happens between two
 * kills.
 */
const MEMORY = '/dev/shm'
const places = existsSync(MEMORY) ? [tmpdir(), MEMORY] : [tmpdir()]

for (const base of places) {
  test(`kills at any moment lose nothing acknowledged and leave nothing in part, in ${base}`, (t) =>
    killAgainAndAgain(t, Math.ceil(ROUNDS / places.length), base))
}
