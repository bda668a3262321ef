import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { until } from '../until.ts'
import { type DamagedPlace, isWithin, layoutOf, mayFail } from './part-layout.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import {
  type Model,
  modelOf,
  newClock,
  open,
  openRetained,
  openToRead,
  RETAINED_STEPS,
  STEPS,
  signal,
} from './workload.ts'

/** Places that are damaged, one after the other, over all kinds of files. */
const PLACES = Number(process.env.ROT_PLACES ?? 2_000)

const REFUSALS = ['STORAGE_CORRUPT', 'DATA_DIR_UNUSABLE']
const ALL = { from: -1e17, to: 1e17, order: 'asc', limit: 1e6 } as const

/** Of the log: two by the owner that writes the parts, and one by the next. */
const ADDED = [STEPS[3]!, STEPS[4]!, STEPS[7]!]
/** What is written beside damage, and takes away what may be damaged. */
const MORE = [STEPS[0]!, STEPS[8]!]

interface Tally {
  refused: number
  told: number
  harmless: number
}

/** What is damaged, and what may follow from it. */
interface Place {
  readonly what: string
  /** Tags that may fail; `null` for any. */
  readonly failing: ReadonlySet<string> | null
  /** Whether it is the table of a part: a read that meets it has its pages looked for, and fails. */
  readonly isInTable?: boolean
}

/** Reads each tag by itself: what is read is right, or an error. Gives how many tags had one. */
async function readEach(store: FileStore, model: Model, { what, failing }: Place): Promise<number> {
  let failed = 0
  for (const [tag, { points }] of model) {
    try {
      const [read] = await store.readRanges([{ tag, ...ALL }], signal)
      const { times, values } = read!.points
      assert.equal(times.length, points.size, `${what}: ${tag} has other points`)
      for (const [i, time] of times.entries()) {
        assert.equal(values[i], points.get(time), `${what}: ${tag} at ${time}`)
      }
    } catch (error) {
      if (!(error instanceof TidemarkError)) throw error
      assert.equal(error.code, 'STORAGE_CORRUPT', `${what}: ${tag}`)
      assert.ok(failing?.has(tag) !== false, `${what}: ${tag} does not answer: ${String(error.cause)}`)
      failed++
      await readBeside(store, tag, points, what)
    }
  }
  return failed
}

/** Reads what is intact of a tag: it is right, and what is missing lies within the spans that are said. */
async function readBeside(
  store: FileStore,
  tag: string,
  points: ReadonlyMap<number, number>,
  what: string,
): Promise<void> {
  try {
    const [read] = await store.readRanges([{ tag, ...ALL, partial: true }], signal)
    const { points: found, missing = [] } = read!
    for (const [i, time] of found.times.entries()) {
      assert.equal(found.values[i], points.get(time), `${what}: ${tag} at ${time}, beside damage`)
    }
    const there = new Set(found.times)
    for (const time of points.keys()) {
      const isSaid = missing.some(({ from, to }) => time >= from && time < to)
      assert.ok(there.has(time) || isSaid, `${what}: ${tag} lacks ${time}, and nothing says so`)
    }
  } catch (error) {
    // What a part takes away from others is not known.
    if (!(error instanceof TidemarkError)) throw error
    assert.equal(error.code, 'STORAGE_CORRUPT', `${what}: ${tag}`)
  }
}

/** Tags that have or had the same points, as one was renamed to the other. */
const groupOf = (tag: string) => (tag === 'd' ? 'a' : tag)

/** All points that ever were there: what a damaged log shows may be of any moment, and of nothing else. */
const KNOWN: ReadonlySet<string> = (() => {
  const known = new Set<string>()
  let model: Model = new Map()
  for (const step of [...RETAINED_STEPS, ...ADDED]) {
    model = step.change?.(model) ?? model
    for (const [tag, { points }] of model) {
      for (const [time, value] of points) known.add(`${groupOf(tag)} ${time} ${value}`)
    }
  }
  return known
})()

async function readKnown(store: FileStore, what: string): Promise<void> {
  for (const [tag, { points }] of await modelOf(store)) {
    for (const [time, value] of points) {
      assert.ok(KNOWN.has(`${groupOf(tag)} ${time} ${value}`), `${what}: ${tag} has ${value} at ${time}`)
    }
  }
}

/** The same of a worker, which takes nothing over and writes nothing. */
async function meetToRead(disk: SimulatedDisk, folder: string, model: Model, { what, ...rest }: Place) {
  const place = { ...rest, what: `${what}, for a worker` }
  let store: FileStore
  try {
    store = await openToRead(disk, folder)
  } catch (error) {
    assert.ok(
      error instanceof TidemarkError && REFUSALS.includes(error.code),
      `${place.what}: ${String(error)}`,
    )
    return 'refused'
  }
  try {
    const { problems } = await store.check(signal)
    if (store.leftOut !== null) {
      await readKnown(store, place.what)
      assert.ok(problems.length > 0, `${place.what}: the check says nothing of it`)
      return 'told'
    }
    if (place.isInTable === true) {
      const any = { ...place, failing: null }
      await until(async () => (await readEach(store, model, any)) === 0, `${place.what}: its pages are found`)
    }
    const failed = await readEach(store, model, place)
    assert.ok(failed === 0 || problems.length > 0, `${place.what}: the check says nothing of it`)
    return problems.length > 0 ? 'told' : 'harmless'
  } finally {
    await store.close()
  }
}

async function meet(disk: SimulatedDisk, folder: string, model: Model, place: Place, tally: Tally) {
  const { what } = place
  let store: FileStore
  try {
    store = await open(disk, folder)
  } catch (error) {
    assert.ok(error instanceof TidemarkError && REFUSALS.includes(error.code), `${what}: ${String(error)}`)
    tally.refused++
    return
  }
  try {
    const healthy = await store.checkHealth(signal).then(
      () => true,
      () => false,
    )
    const { problems } = await store.check(signal)
    const isTold = !healthy || problems.length > 0
    if (isTold) tally.told++
    else tally.harmless++
    if (!healthy) {
      // What the log lost may be missing in all reads, and what it took away there: each says so.
      assert.ok(store.leftOut !== null, `${what}: reads say nothing of it`)
      await readKnown(store, what)
      await assert.rejects(store.flush(), { code: 'STORAGE_CORRUPT' })
      return
    }
    // Otherwise what is read is right, also when more was flushed and merged beside it.
    if (place.isInTable === true) {
      const any = { ...place, failing: null }
      await until(async () => (await readEach(store, model, any)) === 0, `${what}: its pages are found`)
    }
    const failed = await readEach(store, model, place)
    assert.ok(failed === 0 || isTold, `${what}: the check says nothing of it`)
    let later = model
    for (const step of MORE) {
      await step.run(store)
      later = step.change!(later)
    }
    await store.flush()
    const merged = { ...place, what: `${what}, merged` }
    assert.ok((await readEach(store, later, merged)) <= failed, `${what}: a merge made it worse`)
    const after = await store.check(signal)
    assert.ok(problems.length === 0 || after.problems.length > 0, `${what}: damage was merged away`)
  } finally {
    await store.close()
  }
}

test('a flipped bit, a missing end of any file, or a missing file is told, or changes nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-rot-'))
  try {
    const disk = new SimulatedDisk()
    const clock = newClock()
    const store = await openRetained(disk, folder, clock)
    for (const step of RETAINED_STEPS) await step.run(store, clock)
    // The next owner accepts what the first one has in its log, and adds to it.
    for (const step of ADDED.slice(0, 2)) await step.run(store)
    await store.close()
    const next = await openRetained(disk, folder, clock)
    await ADDED[2]!.run(next)
    const model = await modelOf(next)
    const names = [...model.keys()]
    const ids = (await next.findTags(names, signal)).map((tag) => tag!.id)
    await next.close()
    const found = [...disk.contents()].filter(([path, { length }]) => length > 0 && path.startsWith(folder))
    const layouts = new Map(
      found.flatMap(([path]) => (path.endsWith('.part') ? [[path, layoutOf(disk, path)] as const] : [])),
    )
    const failingAt = (path: string, damaged: DamagedPlace) => {
      const part = layouts.get(path)
      if (part === undefined) return null
      const tags = mayFail(part, [...layouts.values()], damaged, new Set(ids))
      return new Set(names.filter((_, i) => tags.has(ids[i]!)))
    }
    const kinds = new Map<string, Tally>()
    const byWorkers: Tally = { refused: 0, told: 0, harmless: 0 }
    const each = Math.ceil(PLACES / found.length)
    for (const [path, content] of found) {
      const kind = basename(dirname(path)) + (basename(path).startsWith('published-') ? '/published' : '')
      const tally = kinds.get(kind) ?? { refused: 0, told: 0, harmless: 0 }
      kinds.set(kind, tally)
      for (let i = 0; i < each; i++) {
        // Not in the zeros that a segment reserves.
        const at = Math.floor((i * (content.findLastIndex((byte) => byte !== 0) + 1)) / each)
        const isCut = i % 4 === 3
        const damaged = isCut ? content.slice(0, at) : content.slice()
        if (!isCut) damaged[at]! ^= 1 << (i % 8)
        const what = `${basename(path)} ${isCut ? 'cut at' : 'bit flipped at'} ${at}`
        const table = layouts.get(path)?.sections.table
        const isInTable = !isCut && table !== undefined && isWithin(table, at)
        const place = { what, failing: failingAt(path, { at, isCut }), isInTable }
        const changed = new Map([[path, damaged]])
        // Of every third place: flips and cuts both.
        if (i % 3 === 0) byWorkers[await meetToRead(disk.copy(changed), folder, model, place)]++
        await meet(disk.copy(changed), folder, model, place, tally)
      }
      const failing = failingAt(path, { at: 0, isCut: true })
      const missing = { what: `${basename(path)} is missing`, failing }
      const { refused } = tally
      await meet(disk.copy(new Map([[path, null]])), folder, model, missing, tally)
      assert.ok(
        tally.refused === refused || !layouts.has(path),
        `${missing.what}: all others are out of reach`,
      )
    }
    for (const [kind, tally] of kinds) t.diagnostic(`${kind}: ${JSON.stringify(tally)}`)
    t.diagnostic(`of them in workers: ${JSON.stringify(byWorkers)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
