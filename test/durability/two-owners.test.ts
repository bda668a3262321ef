import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { Worker as Thread } from 'node:worker_threads'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { temporaryFolder } from './folder.ts'
import { type Model, modelOf, open, printed, RETAINED_STEPS, signal } from './workload.ts'

/**
 * Moments at which a process that owns is paused, spread over its life; all of them with OWNER_PAUSES=all. Threads are
 * paused at every one.
 */
const PAUSES = process.env.OWNER_PAUSES ?? '5'
/** Nothing that these tests look at waits for a disk. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const started = new Set<ChildProcess>()
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** Another owner, which stands still before a call of the file layer, and says what it does in lines. */
interface Paused {
  readonly lines: readonly string[]
  /** Waits for a line that begins so. */
  told(beginning: string): Promise<void>
  /** Has it go on to its end. */
  goOn(): Promise<void>
}

class PausedOwner implements Paused {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #waiting: (() => void)[] = []

  constructor(folder: string, at: number) {
    this.#child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'paused-owner.ts'), folder, String(at)],
      {
        stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      },
    )
    started.add(this.#child)
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
    createInterface({ input: this.#child.stdio[3] as Readable }).on('line', (line) => {
      this.lines.push(line)
      for (const resolve of this.#waiting.splice(0)) resolve()
    })
  }

  async told(beginning: string): Promise<void> {
    while (!this.lines.some((line) => line.startsWith(beginning))) {
      await Promise.race([
        new Promise<void>((resolve) => this.#waiting.push(resolve)),
        this.#ended.then(() => {
          if (!this.lines.some((line) => line.startsWith(beginning))) throw new Error(this.lines.join('\n'))
        }),
      ])
    }
  }

  async goOn(): Promise<void> {
    // Again and again: it says that it stops before it does, and goes on only by what comes after that.
    const timer = setInterval(() => this.#child.kill('SIGCONT'), 50)
    this.#child.kill('SIGCONT')
    await this.#ended
    clearInterval(timer)
    started.delete(this.#child)
  }
}

/** A thread that lives again and again: starting a process takes longer than a life. */
class PausedThread implements Paused {
  lines: string[] = []
  readonly #gate = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Thread
  #waiting: (() => void)[] = []

  constructor() {
    this.#worker = new Thread(join(import.meta.dirname, 'paused-thread.ts'), {
      workerData: this.#gate.buffer,
    })
    this.#worker.on('message', (line: string) => {
      this.lines.push(line)
      for (const resolve of this.#waiting.splice(0)) resolve()
    })
  }

  live(folder: string, at: number): this {
    this.lines = []
    Atomics.store(this.#gate, 0, 0)
    this.#worker.postMessage({ folder, at })
    return this
  }

  async told(beginning: string): Promise<void> {
    while (!this.lines.some((line) => line.startsWith(beginning))) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async goOn(): Promise<void> {
    Atomics.store(this.#gate, 0, 1)
    Atomics.notify(this.#gate, 0)
    await this.told('ended')
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** What is acknowledged by lines, and what may be there in its place: the step that was begun. */
function modelsOf(lines: readonly string[]): { readonly model: Model; readonly next: Model } {
  let model: Model = new Map()
  let next = model
  for (const line of lines) {
    const [kind, index] = line.split(' ')
    const step = RETAINED_STEPS[Number(index)]
    if (kind === 'begun') next = step!.change?.(model) ?? model
    if (kind === 'done') model = next
  }
  return { model, next }
}

const openToRead = (folder: string) => openFileStore(folder, { historian: 'plant', owner: false })

/** As a worker that follows the owner of before; `null` before there is anything to read. */
async function openBeside(folder: string): Promise<FileStore | null> {
  return existsSync(join(folder, 'manifest')) &&
    readdirSync(join(folder, 'manifest')).some((name) => !name.endsWith('.new'))
    ? openToRead(folder)
    : null
}

/** What readers and a copy have beside a successor, of which some followed the owner before it. */
async function checkReaders(folder: string, follower: FileStore | null, written: string, at: number) {
  const copy = join(folder, 'copy')
  await copyHistorian(systemFiles, folder, copy, { mode: 'copy' }, signal)
  const readers = { follower, 'new reader': await openToRead(folder), copy: await openToRead(copy) }
  for (const [name, reader] of Object.entries(readers)) {
    if (reader === null) continue
    assert.equal(printed(await modelOf(reader)), written, `paused at call ${at}: what the ${name} has`)
    await reader.close()
  }
}

async function pauseAt(folder: string, first: Paused, at: number): Promise<void> {
  await first.told('stopped')
  const before = [...first.lines]
  const follower = await openBeside(folder)
  // On another machine nothing is known of the lock.
  rmSync(join(folder, 'owner.lock'), { force: true })
  const second = await open(systemFiles, folder)
  const { model, next } = modelsOf(before)
  const found = printed(await modelOf(second))
  if (found !== printed(next)) assert.equal(found, printed(model), `paused at call ${at}`)
  const points = makeColumns(1)
  points.times[0] = 12_345
  await second.write(writeBatch([{ tag: 'successor', points }], true), signal)
  const written = printed(await modelOf(second))
  await first.goOn()
  // What was durable and looked at before it was paused is answered; nothing is after that.
  const answered = first.lines.slice(before.length).filter((line) => line.startsWith('done'))
  const changing = answered.filter((line) => {
    // What retention cannot do is told as trouble, and not by the step.
    const { change, isWithoutRecord } = RETAINED_STEPS[Number(line.split(' ')[1])]!
    return change !== null && isWithoutRecord !== true
  })
  const effective = changing.filter((line) => {
    const done = modelsOf([...before, line]).model
    return printed(done) !== printed(model) && printed(done) !== found
  })
  assert.deepEqual(effective, [], `paused at call ${at}: ${first.lines.join(', ')}`)
  assert.equal(printed(await modelOf(second)), written, `paused at call ${at}: what the successor reads`)
  await checkReaders(folder, follower, written, at)
  await second.flush()
  assert.deepEqual((await second.check(signal)).problems, [])
  await second.close()
  const third = await open(systemFiles, folder)
  assert.equal(printed(await modelOf(third)), written, `paused at call ${at}: what is there in the end`)
  assert.deepEqual((await third.check(signal)).problems, [])
  await third.close()
}

/** The calls of a whole life, from the one that makes its claim on: before that it is no owner. */
function callsOf({ lines }: Paused): { readonly first: number; readonly calls: number } {
  const numberOf = (beginning: string) =>
    Number(lines.find((line) => line.startsWith(beginning))!.split(' ')[1])
  return { first: numberOf('claims'), calls: numberOf('ended') }
}

test('a process that stands still at any moment and is replaced changes nothing any more', async (t) => {
  const whole = new PausedOwner(temporaryFolder(t), -1)
  await whole.told('ended')
  const { first, calls } = callsOf(whole)
  const count = PAUSES === 'all' ? calls - first : Number(PAUSES)
  const moments = new Set(
    Array.from({ length: count }, (_, i) => first + Math.floor((i * (calls - first)) / count)),
  )
  for (const at of moments) {
    const folder = temporaryFolder(t)
    await pauseAt(folder, new PausedOwner(folder, at), at)
  }
  t.diagnostic(`${moments.size} of ${calls} calls`)
})

test('an owner that stands still at each call of the file layer and is replaced changes nothing any more', async (t) => {
  const thread = new PausedThread()
  t.after(() => thread.end())
  const base = temporaryFolder(t, BASE)
  const folderOf = () => mkdtempSync(join(base, 'life-'))
  await thread.live(folderOf(), -1).told('ended')
  const { first, calls } = callsOf(thread)
  for (let at = first; at < calls; at++) {
    const folder = folderOf()
    await pauseAt(folder, thread.live(folder, at), at)
    rmSync(folder, { recursive: true })
  }
  t.diagnostic(`${calls - first} calls`)
  assert.ok(calls > 100)
})
