import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EmbeddedHistorian } from '../../src/drivers/embedded/driver.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../src/series/columns.ts'
import { interpolate } from '../../src/series/interpolate.ts'
import { PlotSampler } from '../../src/series/plot.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import { assertPoints, at, EVER, points, type Row } from '../contract/points.ts'
import { aggregatesOf, integralsOf } from '../contract/push-down-promises.ts'
import { temporaryFolder } from '../durability/folder.ts'
import { keep, RetentionModel, TestClock } from './retention-model.ts'

const RUNS = Number(process.env.RETENTION_RUNS ?? 60)
const SECOND = 1_000_000
const START = 1_700_000_000 * SECOND
const context = { signal: new AbortController().signal }
const NAMES = ['fast.a', 'Fast.b', 'slow.a', 'other']

/** Sets of rules that a restart goes to and fro between. */
const RULES: readonly (readonly RetentionRule[])[] = [
  [keep('fast.*', 60), keep('slow*', 400)],
  [keep('fast.a', 300), keep('FAST.*', 60)],
  [keep('*', 200)],
  [],
]

class World {
  readonly folder: string
  readonly clock = new TestClock(START)
  readonly model = new RetentionModel()
  rules: readonly RetentionRule[] = []
  store!: FileStore
  reader: FileStore | null = null
  /** The last points that were written as one bulk. */
  bulk: { readonly tag: string; readonly points: PointColumns } | null = null

  constructor(folder: string) {
    this.folder = folder
  }

  async open(): Promise<void> {
    this.store = await openFileStore(this.folder, {
      historian: 'plant',
      owner: true,
      retention: { rules: this.rules, time: this.clock },
      limits: {
        flush: { points: 1_500, records: 40, ageMs: 60_000 },
        merge: { partitionBytes: 4_000, fanIn: 3, largestBytes: 1 << 20 },
        idleMergeAfterMs: 5,
        cacheBytes: 50_000,
        unlinkAfterMs: 5,
        retentionEveryMs: 1e6,
        reserveBytes: 0,
      },
    })
    await this.store.retain()
    this.reader ??= await openFileStore(this.folder, { historian: 'plant', owner: false })
  }

  async close(): Promise<void> {
    await this.reader?.close()
    this.reader = null
    await this.store.close()
  }
}

type Command = (world: World) => Promise<void>

/** Seconds before and after now. */
const second = fc.integer({ min: -500, max: 50 })
const name = fc.constantFrom(...NAMES)
const row = fc.tuple(second, fc.constantFrom(0, 1.5, -3), fc.constantFrom(0, 0, 1))

const batchOf = (now: number, rows: readonly (readonly [number, number, number])[]) =>
  points(...rows.map(([time, value, status]): Row => [now + time * SECOND, value, status]))

const bulkOf = (now: number, from: number, count: number, badUntil: number): PointColumns => {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) {
    columns.times[i] = now + from * SECOND + i * 50_000
    columns.values[i] = i % 11
    columns.statuses[i] = i >= badUntil || i % 5 === 0 ? 0 : 1
  }
  return columns
}

const outcome = async (act: () => Promise<unknown>) => {
  try {
    return { result: await act() }
  } catch (error) {
    return { code: (error as { code?: unknown }).code ?? error }
  }
}

const both = async (real: () => Promise<unknown>, expected: () => Promise<unknown>) =>
  assert.deepEqual(await outcome(real), await outcome(expected))

const write = fc
  .tuple(
    fc.array(fc.tuple(name, fc.array(row, { maxLength: 8 })), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([tags, createTags]): Command => {
    return ({ store, model, clock }) => {
      const entries = tags.map(([tag, rows]) => ({ tag, points: batchOf(clock.us, rows) }))
      const batch = writeBatch(entries, createTags)
      return both(
        () => store.write(batch, context.signal),
        () => model.write(batch),
      )
    }
  })

const bulk = fc
  .tuple(name, second, fc.constantFrom(100, 400, 2_000), fc.constantFrom(0, 50, 1_500))
  .map(([tag, from, count, badUntil]): Command => {
    return (world) => {
      world.bulk = { tag, points: bulkOf(world.clock.us, from, count, badUntil) }
      return writeBulk(world, world.bulk)
    }
  })

const writeBulk = (
  { store, model }: World,
  bulk: { readonly tag: string; readonly points: PointColumns },
) => {
  const batch = writeBatch([bulk], true)
  return both(
    () => store.write(batch, context.signal),
    () => model.write(batch),
  )
}

/** Writes BAD points at the times of the last bulk, in its place. */
const spoil = fc.constant<Command>(async (world) => {
  if (world.bulk === null) return
  const { tag, points } = world.bulk
  await writeBulk(world, { tag, points: { ...points, statuses: points.statuses.map(() => STATUS_BAD) } })
})

const deletePoints = fc.tuple(name, second, second).map(([tag, a, b]): Command => {
  return ({ store, model, clock }) => {
    const [from, to] = [a, b].sort((x, y) => x - y).map((time) => at(clock.us + time * SECOND))
    const range = { tag, from: from!, to: to! }
    return both(
      async () => [...(await store.deletePoints([range], false, context.signal))],
      async () => [...(await model.points.deletePoints([range], false, context))],
    )
  }
})

const deleteTag = name.map((tag): Command => {
  return ({ store, model }) =>
    both(
      async () => [...(await store.deleteTags([tag], false, context.signal))],
      async () => [...(await model.points.deleteTags([tag], false, context))],
    )
})

const renameTag = fc.tuple(name, name).map(([from, to]): Command => {
  return ({ store, model }) =>
    both(
      () => store.renameTags([{ from, to }], false, context.signal),
      () => model.rename([{ from, to }]),
    )
})

const pass = fc.integer({ min: 1, max: 150 }).map((seconds): Command => {
  return async ({ store, model, clock }) => {
    clock.us += seconds * SECOND
    await store.retain()
    await model.pass(clock.us)
  }
})

/** A restart, with other rules now and then. */
const reopen = fc.option(fc.constantFrom(...RULES), { nil: null }).map((rules): Command => {
  return async (world) => {
    await world.close()
    if (rules !== null) world.rules = rules
    await world.open()
    await world.model.setRules(world.rules, world.clock.us)
  }
})

const flush = fc.constant<Command>(({ store }) => store.flush())

const rest = fc.constant<Command>(() => new Promise((resolve) => setTimeout(resolve, 10)))

async function compareTag(
  historian: Historian,
  { model, clock }: World,
  tag: string,
  who: string,
): Promise<void> {
  const query = { tag, ...EVER, order: 'asc', limit: 1e9 } as const
  const [actual] = await historian.readRanges([query], context)
  const [expected] = await model.points.readRanges([query], context)
  const raw = expected!.points
  assertPoints(actual!.points, raw, `${tag} by ${who}`)
  const [back] = await historian.readRanges([{ ...query, order: 'desc' }], context)
  assert.deepEqual([...back!.points.times], [...raw.times].reverse(), `${tag} backwards`)
  assert.deepEqual(await historian.estimatePoints([query], 1e9, context), [raw.times.length])
  const instants = Float64Array.from(
    [-700, -401, -300.5, -200, -60, -59.5, 0, 40],
    (time) => clock.us + time * SECOND,
  )
  for (const find of ['before', 'before-or-at', 'after', 'after-or-at'] as const) {
    const queries = Array.from(instants, (time) => ({ tag, find, at: at(time) }))
    assertPoints(
      withoutNone(await historian.readPoints(queries, context)),
      withoutNone(await model.points.readPoints(queries, context)),
      `${tag} ${find}`,
    )
  }
  const [boundingValues] = await model.points.readBoundingValues([tag], instants, context)
  for (const stepped of [false, true]) {
    const shape = { stepped, holdUntil: at(clock.us) }
    const [values] = await historian.readInterpolated!([{ tag, times: instants, ...shape }], context)
    assert.deepEqual(values, interpolate(boundingValues!, instants, shape), `${tag} interpolated`)
    const { aggregates } = historian.capabilities
    const [found] = await historian.readAggregates!([{ tag, edges: instants, aggregates, ...shape }], context)
    const windows = aggregatesOf(raw, instants, aggregates, shape)
    for (const one of aggregates) assertClose(found![one]!, windows[one]!, `${one} of ${tag}`)
    const [starts, ends] = [instants.subarray(0, -1), instants.subarray(1)]
    const [integrals] = await historian.readIntegrals!([{ tag, starts, ends, ...shape }], context)
    assertClose(integrals!.integrals, integralsOf(raw, starts, ends, shape).integrals, `integrals of ${tag}`)
    const [plot] = await historian.readPlots!([{ tag, edges: instants, stepped }], context)
    assert.deepEqual(plot!.points.times, plotOf(raw, instants), `plot of ${tag}`)
  }
}

function plotOf(raw: PointColumns, edges: Float64Array): Float64Array {
  const sampler = new PlotSampler(edges)
  sampler.add(raw)
  return sampler.finish().points.times
}

/** Values of points that are not there say nothing. */
function withoutNone(columns: PointColumns): PointColumns {
  for (const [i, time] of columns.times.entries()) {
    if (!Number.isNaN(time)) continue
    columns.values[i] = 0
    columns.statuses[i] = 0
  }
  return columns
}

function assertClose(actual: Float64Array, expected: Float64Array, message: string): void {
  for (const [i, value] of expected.entries()) {
    const isClose = Number.isFinite(value)
      ? Math.abs(actual[i]! - value) <= 1e-9 * Math.max(1, Math.abs(value))
      : !Number.isFinite(actual[i]!)
    assert.ok(isClose, `${message} at ${i}: ${actual[i]} is not ${value}`)
  }
}

const compare: Command = async (world) => {
  for (const tag of NAMES) {
    await compareTag(new EmbeddedHistorian(world.store, true), world, tag, 'the owner')
    await compareTag(new EmbeddedHistorian(world.reader!, false), world, tag, 'another process')
  }
}

const command = fc.oneof(
  { weight: 5, arbitrary: write },
  { weight: 4, arbitrary: bulk },
  { weight: 2, arbitrary: spoil },
  { weight: 3, arbitrary: deletePoints },
  { weight: 1, arbitrary: deleteTag },
  { weight: 2, arbitrary: renameTag },
  { weight: 6, arbitrary: pass },
  { weight: 2, arbitrary: reopen },
  { weight: 4, arbitrary: flush },
  { weight: 1, arbitrary: rest },
  { weight: 3, arbitrary: fc.constant(compare) },
)

test('whatever is done, reads give the points less those that retention removed, merged or not', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...RULES),
      fc.array(command, { minLength: 5, maxLength: 50 }),
      async (rules, commands) => {
        const world = new World(temporaryFolder(t))
        world.rules = rules
        await world.open()
        await world.model.setRules(rules, world.clock.us)
        try {
          for (const act of commands) await act(world)
          await compare(world)
          await world.store.flush()
          await compare(world)
          assert.deepEqual((await world.store.check(context.signal)).problems, [])
        } finally {
          await world.close()
        }
      },
    ),
    { numRuns: RUNS },
  )
})
