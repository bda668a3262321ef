import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { repairHistorian } from '../../src/storage/maintenance/repair-historian.ts'
import { listManifests, readManifest } from '../../src/storage/manifest/manifest-file.ts'
import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import { TestClock } from '../property/retention-model.ts'
import { LifeModel, type ModelPoint } from './life-model.ts'
import { type Dangers, LIMITS, MONTH, NAMES, RULES } from './life-settings.ts'
import { randomOf } from './random.ts'
import { readLife } from './read-life.ts'
import { SimulatedDisk } from './simulated-disk.ts'

/*
 * A life of a historian in random steps: changes, starts of all kinds, copies and repairs, with a model of what must be
 * there after each of them.
 */

const STEPS = 60

const { signal } = new AbortController()
const textOf = async (store: FileStore) => (await readLife(store)).text

/** One life; the same seed makes the same one. */
export class Life {
  readonly #dangers: Dangers
  readonly #random: (below: number) => number
  readonly #base: string
  readonly #clock = new TestClock(1e9)
  readonly #done: string[] = []
  #folder: string
  #copies = 0
  #disk = new SimulatedDisk()
  #files: FailingFiles
  #store: FileStore | null = null
  /** Reads beside the owner. */
  #reader: FileStore | null = null
  #rules: readonly RetentionRule[] = []
  #model = new LifeModel()
  /** What may be there in its place after the next start. */
  #maybe: LifeModel[] = []

  constructor(base: string, seed: number, dangers: Dangers) {
    this.#base = base
    this.#dangers = dangers
    this.#random = randomOf(seed)
    this.#folder = this.#newFolder()
    this.#files = new FailingFiles(this.#disk)
  }

  async run(): Promise<void> {
    try {
      await this.#open()
      for (let i = 0; i < STEPS; i++) {
        await this.#step()
        await this.#look()
      }
      await this.#end()
    } catch (error) {
      throw new Error(`after ${this.#done.join(', ')}`, { cause: error })
    } finally {
      await this.#close().catch(() => {})
    }
  }

  #newFolder(): string {
    const folder = join(this.#base, String(this.#copies++))
    mkdirSync(folder)
    return folder
  }

  async #open(): Promise<void> {
    if (this.#dangers.retention && this.#random(3) === 0) this.#rules = RULES[this.#random(RULES.length)]!
    this.#store = await openFileStore(this.#folder, {
      historian: 'plant',
      owner: true,
      // Without a manifest what waits to be removed is there beside what counts.
      limits: { ...LIMITS, ...(this.#dangers.repairs && { unlinkSoonestMs: 1e9, unlinkAfterMs: 1e9 }) },
      files: this.#files,
      ...(this.#dangers.retention && { retention: { rules: this.#rules, time: this.#clock } }),
    })
    if (this.#dangers.retention) await this.#store.retain()
    const found = await textOf(this.#store)
    const all = [this.#model, ...this.#maybe].map((model) =>
      this.#dangers.retention ? model.retain(this.#rules, this.#clock.us) : model,
    )
    const watermarks = this.#watermarks()
    const same = all.find(
      (model) => model.text === found && isEqual([...model.watermarks.values()], watermarks),
    )
    if (same === undefined) assert.equal(found, all[0]!.text, 'what is there after a start')
    this.#model = same!
    this.#maybe = []
    if (this.#random(2) === 0) {
      this.#reader = await openFileStore(this.#folder, {
        historian: 'plant',
        owner: false,
        files: this.#disk,
      })
    }
  }

  async #close(): Promise<void> {
    await this.#reader?.close()
    this.#reader = null
    const store = this.#store
    this.#store = null
    await store?.close()
  }

  /** Those of the manifest: where points are hidden that were not there, they alone tell what was done. */
  #watermarks(): readonly number[] {
    const folder = join(this.#folder, 'manifest')
    const place = listManifests(this.#disk, folder).at(-1)!
    return readManifest(this.#disk, folder, place).version.retention?.watermarks ?? []
  }

  async #look(): Promise<void> {
    // Files of this disk answer within one turn of the event loop, in which others never change what a read sees.
    await turn()
    const found = await textOf(this.#store!)
    assert.equal(found, this.#model.text)
    // Others lack what could not be published, and the owner says so.
    if (this.#reader === null || /published/.test(this.#store!.trouble ?? '')) return
    assert.equal(await textOf(this.#reader), this.#model.text, 'what a reader beside the owner has')
  }

  async #end(): Promise<void> {
    await this.#store!.flush()
    await this.#look()
    assert.deepEqual((await this.#store!.check(signal)).problems, [])
    await this.#close()
  }

  async #step(): Promise<void> {
    const kind = this.#random(24)
    if (kind < 9) await this.#write()
    else if (kind < 12) await this.#flush()
    else if (kind === 12) await this.#delete()
    else if (kind === 13) await this.#rename()
    else if (kind === 14) await this.#drop()
    else if (kind === 15) await this.#describe()
    else if (kind === 16) await this.#start('clean start', false, false)
    else if (kind === 17) await this.#start('kill', true, false)
    else if (kind === 18) await this.#start('power cut', true, true)
    else if (kind === 19 && this.#dangers.retention) await this.#pass()
    else if (kind === 20) await this.#copy()
    else if (kind === 21 && this.#dangers.repairs) await this.#repair()
    else if (kind >= 22) await this.#danger()
  }

  #name(): string {
    return NAMES[this.#random(NAMES.length)]!
  }

  #existing(): string | null {
    const names = [...this.#model.tags.keys()]
    return names.length === 0 ? null : names[this.#random(names.length)]!
  }

  #time(name: string): number {
    if (this.#dangers.retention && /^[bd]/.test(name)) return this.#clock.us - this.#random(240) * 1e6
    return (this.#random(7) - 3) * MONTH + this.#random(20) * 10
  }

  /** Makes a change, which may fail by what goes wrong meanwhile. */
  async #change(
    name: string,
    change: (store: FileStore) => Promise<unknown>,
    apply: (model: LifeModel) => LifeModel,
  ): Promise<void> {
    const next = apply(this.#model)
    try {
      await change(this.#store!)
      this.#done.push(name)
      // What changes nothing is not written, and says nothing of what was written before.
      if (next.text !== this.#model.text) this.#maybe = []
      this.#model = next
    } catch (error) {
      const code = error instanceof TidemarkError ? error.code : ''
      this.#done.push(`${name} (${code || String(error)})`)
      if (code === 'WRITE_OUTCOME_UNKNOWN') this.#maybe.push(next)
      else {
        const isFull = this.#disk.capacity < Number.POSITIVE_INFINITY || /disk is full/.test(String(error))
        assert.ok(
          isFull || this.#disk.cutAt < this.#disk.calls || this.#files.plan !== NO_FAULT,
          String(error),
        )
        if (this.#disk.cutAt < this.#disk.calls) this.#maybe.push(next)
      }
    }
  }

  async #write(): Promise<void> {
    const name = this.#name()
    const points = new Map<number, ModelPoint>()
    for (let left = 1 + this.#random(6); left > 0; left--) {
      points.set(this.#time(name), { value: this.#random(100), isBad: this.#random(4) === 0 })
    }
    const columns = makeColumns(points.size)
    ;[...points].forEach(([time, { value, isBad }], i) => {
      columns.times[i] = time
      columns.values[i] = value
      columns.statuses[i] = isBad ? 1 : 0
    })
    await this.#change(
      `write ${name} ${[...points.keys()].join(' ')}`,
      (store) => store.write(writeBatch([{ tag: name, points: columns }], true), signal),
      (model) => model.write(name, points),
    )
  }

  async #flush(): Promise<void> {
    await this.#change(
      'flush',
      (store) => store.flush(),
      (model) => model,
    )
  }

  async #delete(): Promise<void> {
    const name = this.#existing()
    if (name === null) return
    const [one, other] = [this.#time(name), this.#time(name)]
    const [from, to] = [Math.min(one, other), Math.max(one, other) + 1]
    await this.#change(
      `delete ${name} ${from} to ${to}`,
      (store) => store.deletePoints([{ tag: name, from, to }], false, signal),
      (model) => model.deletePoints(name, from, to),
    )
  }

  async #rename(): Promise<void> {
    const [from, to] = [this.#existing(), this.#name()]
    if (from === null || this.#model.tags.has(to)) return
    await this.#change(
      `rename ${from} to ${to}`,
      (store) => store.renameTags([{ from, to }], false, signal),
      (model) => model.rename(from, to),
    )
  }

  async #drop(): Promise<void> {
    const name = this.#existing()
    if (name === null) return
    await this.#change(
      `drop ${name}`,
      (store) => store.deleteTags([name], false, signal),
      (model) => model.drop(name),
    )
  }

  async #describe(): Promise<void> {
    const name = this.#name()
    const description = `text ${this.#random(1_000)}`
    await this.#change(
      `describe ${name}`,
      (store) => store.putTags([{ name, description, units: null, stepped: false }], 'upsert', signal),
      (model) => model.describe(name, description),
    )
  }

  async #pass(): Promise<void> {
    this.#clock.us += this.#random(40) * 1e6
    const { us } = this.#clock
    const next = this.#model.retain(this.#rules, us)
    this.#done.push(`pass to ${us / 1e6} s`)
    await this.#store!.retain()
    const { retention } = this.#store!.measure()
    const isMoved = retention === null || retention.watermark === Math.max(...next.watermarks.values())
    if (isMoved) this.#model = next
    else this.#maybe.push(next)
  }

  /** A start, after the process ended in one way or another. */
  async #start(what: string, isKilled: boolean, isCut: boolean): Promise<void> {
    this.#files.plan = NO_FAULT
    if (isKilled) {
      // Now, or a few calls later.
      this.#disk.cutAt = this.#disk.calls + this.#random(25)
      for (let left = 4; this.#disk.calls <= this.#disk.cutAt && left > 0; left--) {
        const kind = this.#random(4)
        if (kind === 0) await this.#flush()
        else if (kind === 1 && this.#dangers.retention) await this.#pass()
        else if (kind === 2) await this.#delete()
        else await this.#write()
      }
      this.#disk.cutAt = Math.min(this.#disk.cutAt, this.#disk.calls)
    }
    await this.#close().catch(() => {})
    this.#disk.cutAt = Number.POSITIVE_INFINITY
    if (isCut) this.#disk = this.#disk.afterCut(this.#random)
    this.#files = new FailingFiles(this.#disk)
    this.#done.push(what)
    await this.#open()
  }

  /** Calls fail from now on, one of some or all of a kind, until nothing fails again. */
  async #danger(): Promise<void> {
    if (!this.#dangers.faults) return
    if (this.#random(3) === 0) {
      await this.#fullDisk()
      return
    }
    const at = this.#files.calls + this.#random(30)
    const code = ['EIO', 'ENOSPC'][this.#random(2)]!
    const call = ([null, 'sync', 'write'] as const)[this.#random(3)]
    this.#files.plan = (kind, _path, number) =>
      (call === null ? number === at : kind === call && number >= at) &&
      ['write', 'sync', 'confirm', 'create', 'rename', 'syncFolder', 'truncate', 'remove'].includes(kind)
        ? { code, short: at % 2 === 0 }
        : null
    this.#done.push(`${code} of ${call ?? 'any call'}`)
    await this.#goOn(1 + this.#random(5))
    this.#files.plan = NO_FAULT
    this.#done.push('no faults')
  }

  /** The disk has little room for some steps. */
  async #fullDisk(): Promise<void> {
    this.#disk.capacity = 2 ** 40 - this.#disk.freeBytes() + this.#random(3_000)
    this.#done.push('full disk')
    await this.#goOn(1 + this.#random(8))
    this.#disk.capacity = Number.POSITIVE_INFINITY
    this.#done.push('room again')
  }

  /** Does so many of the steps that meet faults. */
  async #goOn(count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      const steps = [() => this.#write(), () => this.#flush(), () => this.#delete(), () => this.#describe()]
      if (this.#dangers.retention)
        steps.push(
          () => this.#pass(),
          () => this.#rename(),
        )
      await steps[this.#random(steps.length)]!()
      await this.#look()
    }
  }

  async #copy(): Promise<void> {
    // Others lack it then, and the owner says so.
    if (/published/.test(this.#store!.trouble ?? '')) return
    const to = this.#newFolder()
    const isTaken = this.#random(3) === 0
    this.#done.push(isTaken ? 'copy, and go on with it' : 'copy')
    await copyHistorian(this.#disk, this.#folder, to, { mode: 'copy' }, signal)
    if (isTaken) {
      await this.#close()
      this.#folder = to
      this.#maybe = []
      await this.#open()
      return
    }
    const reader = await openFileStore(to, { historian: 'plant', owner: false, files: this.#disk })
    try {
      assert.equal(await textOf(reader), this.#model.text, 'the copy')
    } finally {
      await reader.close()
    }
  }

  async #repair(): Promise<void> {
    this.#done.push('repair')
    this.#disk.cutAt = this.#disk.calls
    await this.#close().catch(() => {})
    this.#disk.cutAt = Number.POSITIVE_INFINITY
    const manifests = join(this.#folder, 'manifest')
    for (const name of this.#disk.list(manifests)) this.#disk.remove(join(manifests, name))
    const { lost } = await repairHistorian(this.#disk, this.#folder, { historian: 'plant' }, signal)
    // Flushes of descriptions alone leave no part with their numbers. A part whose flush was killed says nothing of
    // itself, and the log has its points still.
    assert.ok(
      lost.every((what) => /if anything$|the file (is too short|has no valid footer)$/.test(what)),
      lost.join('\n'),
    )
    this.#files = new FailingFiles(this.#disk)
    await this.#open()
  }
}

const NO_FAULT = () => null
const turn = () => new Promise((resolve) => setImmediate(resolve))
const isEqual = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((value, i) => value === other[i])
