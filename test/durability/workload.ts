import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { EngineLimits } from '../../src/storage/engine/engine-limits.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import type { Files } from '../../src/storage/files/files.ts'
import { keep, TestClock } from '../property/retention-model.ts'

/*
 * A short life of a historian that touches all kinds of files, step by step, with a model of what must be there after
 * each step. Tests let something go wrong at any moment of it.
 */

export const { signal } = new AbortController()

const LIMITS: Partial<EngineLimits> = {
  // It is flushed when a step says so: every run makes the same calls.
  flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
  merge: { partitionBytes: 5_000, fanIn: 2, largestBytes: 1 << 22 },
  cacheBytes: 1 << 20,
  unlinkAfterMs: 0,
  reserveBytes: 0,
}

export const open = (files: Files, folder: string): Promise<FileStore> =>
  openFileStore(folder, { historian: 'plant', owner: true, limits: LIMITS, files })

/** As a worker does: beside an owner, or where none is left. */
export const openToRead = (files: Files, folder: string): Promise<FileStore> =>
  openFileStore(folder, { historian: 'plant', owner: false, limits: LIMITS, files })

/** What the rule of `openRetained` keeps. */
const KEPT_SECONDS = 60

/** The clock of a life with retention: nothing is old at its beginning. */
export const newClock = () => new TestClock((KEPT_SECONDS - 1) * 1e6)

/** The same with a rule of retention for the tag d. */
export async function openRetained(files: Files, folder: string, clock: TestClock): Promise<FileStore> {
  const retention = { rules: [keep('d', KEPT_SECONDS)], time: clock }
  const limits = { ...LIMITS, retentionEveryMs: 1e9 }
  const store = await openFileStore(folder, { historian: 'plant', owner: true, limits, files, retention })
  // Its first look at the clock comes before the first step.
  await store.retain()
  return store
}

/** What is there of a tag: its description, and its values by time. */
interface TagModel {
  readonly description: string | null
  readonly points: ReadonlyMap<number, number>
}
/** Immutable: each step makes the next one. */
export type Model = ReadonlyMap<string, TagModel>

export interface Step {
  readonly name: string
  run(store: FileStore, clock?: TestClock): Promise<unknown>
  /** What it changes; `null` for nothing that anybody sees. */
  change: ((model: Model) => Model) | null
  /** Whether it writes no record: then it says nothing of an earlier one of which it is not known whether it counts. */
  readonly isWithoutRecord?: true
}

const EMPTY: TagModel = { description: null, points: new Map() }

function writeStep(
  name: string,
  tags: Readonly<Record<string, readonly (readonly [number, number])[]>>,
): Step {
  return {
    name,
    run(store) {
      const entries = Object.entries(tags).map(([tag, points]) => {
        const columns = makeColumns(points.length)
        points.forEach(([time, value], i) => {
          columns.times[i] = time
          columns.values[i] = value
        })
        return { tag, points: columns }
      })
      return store.write(writeBatch(entries, true), signal)
    },
    change(model) {
      const next = new Map(model)
      for (const [tag, points] of Object.entries(tags)) {
        const before = next.get(tag) ?? EMPTY
        next.set(tag, { ...before, points: new Map([...before.points, ...points]) })
      }
      return next
    },
  }
}

const flush: Step = { name: 'flush', run: (store) => store.flush(), change: null }

function deleteStep(tag: string, from: number, to: number): Step {
  return {
    name: `delete ${tag} ${from} to ${to}`,
    run: (store) => store.deletePoints([{ tag, from, to }], false, signal),
    change(model) {
      const before = model.get(tag)
      if (before === undefined) return model
      const left = [...before.points].filter(([time]) => time < from || time >= to)
      return new Map(model).set(tag, { ...before, points: new Map(left) })
    },
  }
}

function renameStep(from: string, to: string): Step {
  return {
    name: `rename ${from} to ${to}`,
    run: (store) => store.renameTags([{ from, to }], false, signal),
    change(model) {
      const before = model.get(from)
      if (before === undefined || model.has(to)) return model
      const next = new Map(model)
      next.delete(from)
      return next.set(to, before)
    },
  }
}

function dropStep(tag: string): Step {
  return {
    name: `drop ${tag}`,
    run: (store) => store.deleteTags([tag], false, signal),
    change(model) {
      const next = new Map(model)
      next.delete(tag)
      return next
    },
  }
}

function describeStep(tag: string, description: string): Step {
  return {
    name: `describe ${tag}`,
    run: (store) =>
      store.putTags([{ name: tag, description, units: null, stepped: false }], 'upsert', signal),
    change: (model) => new Map(model).set(tag, { ...(model.get(tag) ?? EMPTY), description }),
  }
}

/** The watermark of d moves to a time. */
function retainStep(watermark: number): Step {
  const old = { tag: 'd', from: -1e16, to: watermark + 1, order: 'asc', limit: 100 } as const
  const oldPoints = async (store: FileStore) =>
    (await store.readRanges([old], signal))[0]!.points.times.length
  return {
    name: `retain d after ${watermark}`,
    isWithoutRecord: true,
    async run(store, clock) {
      clock!.us = KEPT_SECONDS * 1e6 + watermark
      await store.retain()
      // What is in the way is told as trouble; one fault may meet the look at what became of it.
      const left = await oldPoints(store).catch(() => oldPoints(store))
      if (left > 1)
        throw new TidemarkError('WRITE_OUTCOME_UNKNOWN', { historian: 'plant', reason: 'trouble' })
    },
    change: (model) => withoutOld(model, watermark),
  }
}

/** What is left of d at a watermark. */
function withoutOld(model: Model, watermark: number): Model {
  const before = model.get('d')
  if (before === undefined) return model
  const newest = Math.max(...[...before.points.keys()].filter((time) => time <= watermark))
  const left = [...before.points].filter(([time]) => time >= newest)
  return new Map(model).set('d', { ...before, points: new Map(left) })
}

/** What is there when a historian with retention was opened again: its watermark has moved to what the clock says. */
export const reopened = (model: Model, { us }: TestClock): Model => withoutOld(model, us - KEPT_SECONDS * 1e6)

const series = (from: number, count: number, step: number, value: number) =>
  Array.from({ length: count }, (_, i) => [from + i * step, value + i / 10] as const)

/** Some 30 days of microseconds. */
const MONTH = 2.6e12

export const STEPS: readonly Step[] = [
  writeStep('first points', { a: series(0, 5, 10, 1), b: series(0, 3, 1, 2) }),
  describeStep('b', 'a description'),
  flush,
  writeStep('points between and over those', { a: series(5, 8, 5, 7), c: series(-MONTH, 4, MONTH, 3) }),
  deleteStep('a', 10, 21),
  flush,
  renameStep('a', 'd'),
  writeStep('more, and a tag of the name that is free', { a: series(100, 2, 1, 9), d: series(30, 4, 7, 5) }),
  dropStep('b'),
  flush,
  writeStep('a tag anew', { b: series(2, 2, 2, 4), c: series(0, 30, MONTH, 6) }),
  flush,
  describeStep('a', 'another description'),
  deleteStep('c', -2 * MONTH, 3 * MONTH),
  flush,
  writeStep('the last points', { d: series(1_000, 5, 1, 8) }),
]

/** The same, and retention at the end; only for `openRetained`. */
export const RETAINED_STEPS: readonly Step[] = [...STEPS, flush, retainStep(1_001), flush]

/** What is there. */
export async function modelOf(store: FileStore): Promise<Model> {
  const page = await store.searchTags({ matches: null, foldedPrefix: '', after: null, limit: 1_000 }, signal)
  const all = { from: -1e17, to: 1e17, order: 'asc', limit: 1e6 } as const
  const ranges = await store.readRanges(
    page.tags.map(({ name }) => ({ tag: name, ...all })),
    signal,
  )
  return new Map(
    page.tags.map(({ name, description }, i) => {
      const { times, values } = ranges[i]!.points
      return [name, { description, points: new Map(Array.from(times, (time, at) => [time, values[at]!])) }]
    }),
  )
}

export const isSame = (one: Model, other: Model): boolean => printed(one) === printed(other)

export function printed(model: Model): string {
  const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(
    sorted.map(([name, { description, points }]) => [
      name,
      description,
      [...points].sort((a, b) => a[0] - b[0]),
    ]),
  )
}

/** The code of what a step was refused with. */
export function codeOf(error: unknown): string {
  if (error instanceof TidemarkError) return error.code
  throw error
}
