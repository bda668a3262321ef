import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { FoldLimits } from '../../src/storage/folder.ts'
import type { HistorianStore } from '../../src/storage/historian-store.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { temporaryFolder } from './folder.ts'
import { KillModel, tagsOfWriter, WRITERS } from './kill-plan.ts'
import type { KillOrder } from './kill-writer.ts'

/** Rounds of kill and restart; a soak with KILL_ROUNDS=n. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 200)
/** Processes that have started and wait for their turn: starting takes longer than a round. */
const READY = 2

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

const random = (below: number) => Math.floor(Math.random() * below)

/** Folding is under way all the time, in epochs of all sizes. */
const randomLimits = (): FoldLimits => ({
  points: [5, 500, 5_000][random(3)]!,
  records: [2, 20, 200][random(3)]!,
  ageMs: 1 + random(20),
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
    let rest = Buffer.alloc(0)
    let left = 1 + random(40)
    await this.#ready
    await new Promise<void>((resolve, reject) => {
      pipe.on('data', (bytes: Buffer) => {
        rest = Buffer.concat([rest, bytes])
        for (; rest.length >= 8; rest = rest.subarray(8)) {
          acknowledged[rest.readUInt32LE(0)] = rest.readUInt32LE(4)
          left--
        }
        if (left <= 0) resolve()
      })
      this.#ended.then(() => reject(new Error('the writer ended by itself')))
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

/** Compares everything of a writer with what must be there; gives the first difference. */
async function differenceOf(store: HistorianStore, writer: number, model: KillModel): Promise<string | null> {
  const tags = tagsOfWriter(writer)
  const read = await store.readRanges(
    tags.map((tag) => ({ tag, ...EVER })),
    signal,
  )
  for (const [index, tag] of tags.entries()) {
    const difference = model.differenceOf(tag, read[index]!.points)
    if (difference !== null) return difference
  }
  return null
}

async function assertAll(store: HistorianStore, models: readonly KillModel[]): Promise<void> {
  for (const [writer, model] of models.entries()) assert.equal(await differenceOf(store, writer, model), null)
}

async function killAgainAndAgain(t: TestContext, rounds: number, base: string): Promise<void> {
  const folder = temporaryFolder(t, base)
  const models = Array.from({ length: WRITERS }, (_, writer) => new KillModel(writer))
  const waiting: Writer[] = []
  t.after(() => Promise.all(waiting.map((writer) => writer.kill())))
  let unanswered = 0
  for (let round = 0; round < rounds; round++) {
    while (waiting.length <= READY && waiting.length < rounds - round) waiting.push(new Writer())
    const done = models.map(({ sequence }) => sequence)
    const acknowledged = await waiting.shift()!.writeAndDie({ folder, done, fold: randomLimits() })

    // The dead owner does not stand in the way.
    const store = await openHistorianStore(folder, { historian: 'plant', owner: true, fold: randomLimits() })
    for (const [writer, model] of models.entries()) {
      model.advanceTo(acknowledged[writer]!)
      if ((await differenceOf(store, writer, model)) === null) continue
      // One request was on its way: it may be there, wholly.
      model.advanceTo(acknowledged[writer]! + 1)
      unanswered++
      assert.equal(await differenceOf(store, writer, model), null, `round ${round}`)
    }
    if (round % 5 === 0) {
      await store.fold()
      await assertAll(store, models)
    }
    if (round % 3 === 0) {
      const beside = await openHistorianStore(folder, { historian: 'plant', owner: false })
      await assertAll(beside, models)
      await beside.close()
    }
    if (round % 5 === 0 || round === rounds - 1) assert.deepEqual((await store.check(signal)).problems, [])
    await store.close()
  }
  const requests = models.map(({ sequence }) => sequence)
  assert.ok(
    requests.every((sequence) => sequence > rounds),
    `every writer had its turn: ${requests}`,
  )
  t.diagnostic(
    `${rounds} kills, ${requests.join(' + ')} requests, ${unanswered} of them there without an answer`,
  )
}

/** A kill loses nothing that was written, on disk or not; where nothing waits for a disk, more happens between two kills. */
const MEMORY = '/dev/shm'
const places = existsSync(MEMORY) ? [tmpdir(), MEMORY] : [tmpdir()]

for (const base of places) {
  test(`kills at any moment lose nothing acknowledged and leave nothing in part, in ${base}`, (t) =>
    killAgainAndAgain(t, Math.ceil(ROUNDS / places.length), base))
}
