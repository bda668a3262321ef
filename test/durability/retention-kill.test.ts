import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { listManifests, readManifest } from '../../src/storage/manifest/manifest-file.ts'
import { until } from '../until.ts'
import { temporaryFolder } from './folder.ts'
import { differenceOf } from './kill-difference.ts'
import { KillModel } from './kill-plan.ts'
import { readRetained } from './retained-tags.ts'
import { changesOf, LIMITS, PLAIN_WRITERS, type Progress, progressOf, TOLD } from './retention-plan.ts'
import type { RetentionOrder } from './retention-writer.ts'

/** Rounds of kill and restart; a soak with KILL_ROUNDS=n. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 6)
/** In one of so many rounds the process that reads is killed, too. */
const READER_KILLED = 3
const PATIENCE_MS = 300_000

const { signal } = new AbortController()

const started = new Set<ChildProcess>()
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** What is killed is compiled once. */
const CACHE = join(tmpdir(), 'tidemark-compiled')

function start(script: string): ChildProcess {
  const child = fork(join(import.meta.dirname, script), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
  })
  started.add(child)
  child.once('close', () => started.delete(child))
  return child
}

/** What was told before the kill. */
interface Told {
  request: number
  watermark: number
  readonly plain: number[]
}

/** Has a process write and move watermarks for a moment, and kills it. */
async function writeAndDie(order: RetentionOrder, least: number): Promise<Told> {
  const child = start('retention-writer.ts')
  const ended = once(child, 'close')
  const told: Told = {
    request: order.done.request,
    watermark: Number.NEGATIVE_INFINITY,
    plain: [...order.plain],
  }
  let rest = Buffer.alloc(0)
  await once(child, 'message')
  await new Promise<void>((resolve, reject) => {
    ;(child.stdio[4] as Readable).on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      for (; rest.length >= 16; rest = rest.subarray(16)) {
        const [kind, value] = [rest.readDoubleLE(0), rest.readDoubleLE(8)]
        if (kind === TOLD.request) told.request = value
        else if (kind === TOLD.watermark) told.watermark = value
        else told.plain[kind - TOLD.writer] = value
      }
      if (told.request >= least) resolve()
    })
    void ended.then(() => reject(new Error('the writer ended by itself')))
    const limit = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    void ended.then(() => clearTimeout(limit))
    child.send(order)
  })
  await delay(Math.random() * 20)
  child.kill('SIGKILL')
  await ended
  return told
}

/** A process that is slow to start has read so often before it is killed. */
const LEAST_READS = 5

/** A process that reads what owners write, one after the other; what it saw is wrong is an error of `kill`. */
class Reader {
  readonly #child = start('retention-reader.ts')
  #wrong: string | null = null
  #reads = 0

  constructor(folder: string) {
    this.#child.on('message', (message: 'ready' | { reads?: number; wrong?: string }) => {
      if (message === 'ready') this.#child.send(folder)
      else if (message.wrong !== undefined) this.#wrong = message.wrong
      else this.#reads = message.reads!
    })
  }

  /** Gives how often it read, about. */
  async kill(): Promise<number> {
    const hasEnded = () => this.#child.exitCode !== null || this.#wrong !== null
    await until(() => this.#reads >= LEAST_READS || hasEnded(), 'the process beside reads')
    const isAlive = this.#child.exitCode === null
    this.#child.kill('SIGKILL')
    if (isAlive) await once(this.#child, 'close')
    assert.equal(this.#wrong, null)
    assert.ok(isAlive, 'a reader does not end by itself')
    return this.#reads
  }
}

test('kills amid retention, changes and reads take nothing away that should stay, and bring nothing back', async (t) => {
  const folder = temporaryFolder(t)
  let done: Progress = { request: 0, changes: 0 }
  const plain = Array.from({ length: PLAIN_WRITERS }, (_, writer) => new KillModel(writer))
  let watermark = Number.NEGATIVE_INFINITY
  let moved = 0
  let reader: Reader | null = null
  let reads = 0
  for (let round = 0; round < ROUNDS; round++) {
    const order = { folder, done, plain: plain.map(({ sequence }) => sequence) }
    const told = await writeAndDie(order, done.request + 30 + Math.floor(Math.random() * 60))
    const place = listManifests(systemFiles, join(folder, 'manifest')).at(-1)!
    const { retention } = readManifest(systemFiles, join(folder, 'manifest'), place).version
    const durable = retention?.watermarks[0] ?? Number.NEGATIVE_INFINITY
    const which = `round ${round}`
    assert.ok(durable >= told.watermark && durable >= watermark, `${which}: ${durable}, ${told.watermark}`)
    if (durable > watermark) moved++
    watermark = durable

    // Without rules the watermark stays where it is.
    const store = await openFileStore(folder, { historian: 'plant', owner: true, limits: LIMITS })
    const found = progressOf(await readRetained(store, signal), watermark, 'all')
    assert.ok(found !== null, `${which}: no requests lead to what is there`)
    // One request was on its way: it may be there, wholly, with some of its changes.
    assert.ok(found.request === told.request || found.request === told.request + 1, which)
    const isAnswered = found.request === told.request && found.request > done.request
    if (isAnswered) assert.equal(found.changes, changesOf(found.request).length, which)
    done = found
    for (const [writer, model] of plain.entries()) {
      model.advanceTo(told.plain[writer]!)
      if ((await differenceOf(store, writer, model)) === null) continue
      model.advanceTo(told.plain[writer]! + 1)
      assert.equal(await differenceOf(store, writer, model), null, which)
    }
    await store.flush()
    assert.deepEqual(progressOf(await readRetained(store, signal), watermark, 'all'), done, which)
    for (const [writer, model] of plain.entries()) {
      assert.equal(await differenceOf(store, writer, model), null, which)
    }
    assert.deepEqual((await store.check(signal)).problems, [])
    await store.close()
    if (reader === null) reader = new Reader(folder)
    else if (round % READER_KILLED === 0) {
      reads += await reader.kill()
      reader = new Reader(folder)
    }
  }
  reads += (await reader?.kill()) ?? 0
  assert.ok(moved >= ROUNDS / 2, `the watermark moved in ${moved} of ${ROUNDS} rounds`)
  assert.ok(reads > ROUNDS, `${reads} reads of the process beside`)
  const others = plain.map(({ sequence }) => sequence)
  t.diagnostic(
    `${ROUNDS} kills, ${done.request} requests to tags with rules, ${others.join(' + ')} to others, ${reads} reads`,
  )
})
