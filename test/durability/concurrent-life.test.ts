import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import type { Files } from '../../src/storage/files/files.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { delaying } from './delaying-files.ts'
import { LIMITS, MONTH } from './life-settings.ts'
import { type Random, randomOf } from './random.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { type Model, modelOf, printed, signal } from './workload.ts'

/*
 * Writers that change tags of their own at the same time, beside flushes, merges, copies and a worker that reads: each
 * reads what it wrote, at once and everywhere, and a copy has one moment of each.
 */

/** Lives, and the first of their seeds. */
const LIVES = Number(process.env.CONCURRENT_LIVES ?? 20)
const FIRST = Number(process.env.CONCURRENT_LIVES_FROM ?? 1)
const WRITERS = 3
const CHANGES = 60
const MOST_POINTS = 300

type Tag = { readonly description: string | null; readonly points: ReadonlyMap<number, number> }

/** Changes tags whose names begin with its own, one change after the other. */
class Writer {
  /** What was there after each of its changes; the last one may be under way. */
  readonly moments: Model[] = [new Map()]
  /** Changes that were answered. */
  answered = 0
  readonly #name: string
  readonly #store: FileStore
  readonly #random: Random
  #value = 0

  constructor(name: string, store: FileStore, random: Random) {
    this.#name = name
    this.#store = store
    this.#random = random
  }

  get model(): Model {
    return this.moments.at(-1)!
  }

  async change(): Promise<void> {
    const next = new Map(this.model)
    const done = this.#begin(next)
    this.moments.push(next)
    await done
    this.answered++
  }

  /** What a store has of its tags. */
  async read(store: FileStore): Promise<Model> {
    return ownOf(await modelOf(store), this.#name)
  }

  /** Begins a change of what is there, which it makes in the model. */
  #begin(model: Map<string, Tag>): Promise<unknown> {
    const random = this.#random
    const name = `${this.#name}${random(3)}`
    const other = `${this.#name}${random(3)}`
    const before = model.get(name) ?? { description: null, points: new Map<number, number>() }
    const kind = random(10)
    if (kind === 0 && model.has(name) && !model.has(other)) {
      model.delete(name)
      model.set(other, before)
      return this.#store.renameTags([{ from: name, to: other }], false, signal)
    }
    if (kind === 1 && model.delete(name)) return this.#store.deleteTags([name], false, signal)
    if (kind <= 3 && model.has(name)) {
      const from = this.#time()
      const to = from + MONTH * random(3) + 1
      const points = new Map([...before.points].filter(([time]) => time < from || time >= to))
      model.set(name, { ...before, points })
      return this.#store.deletePoints([{ tag: name, from, to }], false, signal)
    }
    if (kind === 4) {
      const description = `description ${this.#value++}`
      model.set(name, { ...before, description })
      return this.#store.putTags([{ name, description, units: null, stepped: false }], 'upsert', signal)
    }
    return this.#write(model, [...new Set([name, other])])
  }

  #write(model: Map<string, Tag>, names: readonly string[]): Promise<unknown> {
    const entries = names.map((name) => {
      const before = model.get(name) ?? { description: null, points: new Map<number, number>() }
      const count = 1 + this.#random(this.#random(4) === 0 ? MOST_POINTS : 5)
      const written = new Map<number, number>()
      for (let i = 0, time = this.#time(); i < count; i++, time += 1 + this.#random(50)) {
        written.set(time, this.#value++)
      }
      model.set(name, { ...before, points: new Map([...before.points, ...written]) })
      const points = makeColumns(written.size)
      points.times.set([...written.keys()])
      points.values.set([...written.values()])
      return { tag: name, points }
    })
    return this.#store.write(writeBatch(entries, true), signal)
  }

  #time(): number {
    return (this.#random(5) - 2) * MONTH + this.#random(2_000)
  }
}

const ownOf = (model: Model, name: string): Model =>
  new Map([...model].filter(([tag]) => tag.startsWith(name)))

class Life {
  readonly #folder: string
  readonly #files: Files
  readonly #disk = new SimulatedDisk()
  readonly #random: Random
  #isOver = false
  copies = 0
  looks = 0

  constructor(folder: string, seed: number) {
    this.#folder = folder
    this.#random = randomOf(seed)
    this.#files = delaying(this.#disk, this.#random)
  }

  async run(): Promise<void> {
    const from = join(this.#folder, 'plant')
    // Locks are those of the system.
    mkdirSync(from)
    const open = (owner: boolean) =>
      openFileStore(from, { historian: 'plant', owner, limits: LIMITS, files: this.#files })
    const store = await open(true)
    const worker = await open(false)
    const writers = Array.from({ length: WRITERS }, (_, i) => new Writer(`w${i}-`, store, this.#random))
    let writing = WRITERS
    const write = (writer: Writer) =>
      this.#write(writer, store, worker).finally(() => {
        writing--
        if (writing === 0) this.#isOver = true
      })
    const beside = [this.#flush(store), this.#copy(from, writers)]
    try {
      await Promise.all([...writers.map(write), ...beside])
    } finally {
      this.#isOver = true
      await Promise.allSettled(beside)
    }
    assert.deepEqual((await store.check(signal)).problems, [])
    await worker.close()
    await store.close()
    const again = await open(true)
    for (const writer of writers) assert.equal(printed(await writer.read(again)), printed(writer.model))
    await again.close()
  }

  async #write(writer: Writer, store: FileStore, worker: FileStore): Promise<void> {
    for (let made = 0; made < CHANGES; made++) {
      await writer.change()
      if (this.#random(3) > 0) continue
      this.looks++
      const where = this.#random(2) === 0 ? store : worker
      const expected = printed(writer.model)
      assert.equal(printed(await writer.read(where)), expected, where === store ? 'the owner' : 'a worker')
    }
  }

  async #flush(store: FileStore): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(30)
      await store.flush()
    }
  }

  async #copy(from: string, writers: readonly Writer[]): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(40)
      const to = join(this.#folder, `copy-${this.copies++}`)
      mkdirSync(to)
      const answered = writers.map((writer) => writer.answered)
      await copyHistorian(this.#files, from, to, { mode: 'copy' }, signal)
      const copy = await openFileStore(to, { historian: 'plant', owner: false, files: this.#disk })
      for (const [i, writer] of writers.entries()) {
        const found = printed(await writer.read(copy))
        const moments = writer.moments.slice(answered[i])
        assert.ok(
          moments.some((moment) => printed(moment) === found),
          `a copy has no moment of writer ${i} after ${answered[i]} changes: ${found}`,
        )
      }
      assert.deepEqual((await copy.check(signal)).problems, [])
      await copy.close()
    }
  }

  async #pause(most: number): Promise<void> {
    for (let turns = this.#random(most); turns > 0; turns--)
      await new Promise((resolve) => setImmediate(resolve))
  }
}

test('writers beside each other, flushes, merges, copies and a worker read what they wrote, and copies have one moment of each', async (t) => {
  let copies = 0
  let looks = 0
  for (let seed = FIRST; seed < FIRST + LIVES; seed++) {
    const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tidemark-concurrent-'))
    const life = new Life(base, seed)
    try {
      await life.run()
    } catch (error) {
      throw new Error(`life ${seed}`, { cause: error })
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
    copies += life.copies
    looks += life.looks
  }
  t.diagnostic(`${LIVES} lives, ${LIVES * WRITERS * CHANGES} changes, ${looks} looks, ${copies} copies`)
  assert.ok(copies >= LIVES && looks > LIVES * 10)
})
