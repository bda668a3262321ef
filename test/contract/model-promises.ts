import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Historian, SignalShape, WriteBatch } from '../../src/historian/contract.ts'
import { parseTagPattern } from '../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { interpolate } from '../../src/series/interpolate.ts'
import { MemoryHistorian } from './memory-historian.ts'
import { assertPoints, at, EVER, points, type Row } from './points.ts'
import { aggregatesOf, integralsOf } from './push-down-promises.ts'
import type { Bench, Promised } from './subject.ts'

/** Sequences of commands tried, of some thirty commands each; more with CONTRACT_RUNS=n. */
const RUNS = 25

/** A few names, so that commands meet: all but the prefix of a run. */
const NAMES = ['pump', 'Pump', 'flow/1', 'flow/2', '\u{1F525}']

interface World {
  readonly bench: Bench
  readonly model: Historian
  readonly prefix: string
}

type Command = (world: World) => Promise<void>

const time = fc.integer({ min: -60, max: 60 })
const name = fc.constantFrom(...NAMES)
const row: fc.Arbitrary<Row> = fc.tuple(
  time,
  fc.constantFrom(0, -0, 1.5, 5e-324, -1e300),
  fc.constantFrom(0, 0, 1),
)

/** A run of many points, to make blocks split and join. */
const bulk = fc
  .record({
    from: fc.integer({ min: -30_000, max: 30_000 }),
    count: fc.constantFrom(50, 500, 5_000, 9_000),
    step: fc.constantFrom(1, 3, 7),
    value: fc.integer({ min: 0, max: 9 }),
    bad: fc.boolean(),
  })
  .map(({ from, count, step, value, bad }): PointColumns => {
    const columns = makeColumns(count)
    for (let i = 0; i < count; i++) {
      columns.times[i] = from + i * step
      columns.values[i] = value
      columns.statuses[i] = bad && i % 5 !== 0 ? 1 : 0
    }
    return columns
  })

const batch = fc.oneof(
  { weight: 4, arbitrary: fc.array(row, { maxLength: 12 }).map((rows) => points(...rows)) },
  { weight: 1, arbitrary: bulk },
)

const both = async <T>({ bench, model }: World, act: (historian: Historian) => Promise<T>) => {
  const outcome = async (historian: Historian) => {
    try {
      return { result: await act(historian) }
    } catch (error) {
      return { code: (error as { code?: unknown }).code ?? error }
    }
  }
  assert.deepEqual(await outcome(bench.historian), await outcome(model))
}

const context = { signal: new AbortController().signal }

/** Without rules of retention no point is too old. */
const writeAll = async (historian: Historian, batch: WriteBatch) => {
  assert.ok(!(await historian.write(batch, context)))
}

const write = fc
  .tuple(fc.array(fc.tuple(name, batch), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([tags, createTags]): Command => {
    return (world) =>
      both(world, (historian) =>
        writeAll(
          historian,
          writeBatch(
            tags.map(([tag, batch_]) => ({ tag: world.prefix + tag, points: batch_ })),
            createTags,
          ),
        ),
      )
  })

/** Several requests at once; they are given disjoint tags, so that their order does not matter. */
const writeTogether = fc.tuple(...NAMES.map(() => batch)).map((batches): Command => {
  return (world) =>
    both(world, (historian) =>
      Promise.all(
        batches.map((batch_, index) =>
          writeAll(historian, writeBatch([{ tag: world.prefix + NAMES[index]!, points: batch_ }], true)),
        ),
      ),
    )
})

const putTags = fc
  .tuple(
    name,
    fc.constantFrom('create', 'update', 'upsert'),
    fc.constantFrom(null, 'Pump', 'flow'),
    fc.boolean(),
  )
  .map(([tag, mode, description, stepped]): Command => {
    return (world) =>
      both(world, (historian) =>
        historian.putTags(
          [{ name: world.prefix + tag, metadata: { description, units: null, stepped } }],
          mode as 'create',
          context,
        ),
      )
  })

const edge = fc.oneof(time, fc.integer({ min: -40_000, max: 60_000 }))
const span = fc.tuple(edge, edge).map(([a, b]) => ({ from: at(Math.min(a, b)), to: at(Math.max(a, b)) }))

const deletePoints = fc
  .tuple(fc.array(fc.tuple(name, span), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([ranges, dryRun]): Command => {
    return async (world) => {
      if (!world.bench.historian.capabilities.deletePoints) return
      await both(world, async (historian) => [
        ...(await historian.deletePoints!(
          ranges.map(([tag, range]) => ({ tag: world.prefix + tag, ...range })),
          dryRun,
          context,
        )),
      ])
    }
  })

const deleteTags = fc
  .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 2 }), fc.boolean())
  .map(([names, dryRun]): Command => {
    return async (world) => {
      if (!world.bench.historian.capabilities.deleteTags) return
      await both(world, async (historian) => [
        ...(await historian.deleteTags!(
          names.map((one) => world.prefix + one),
          dryRun,
          context,
        )),
      ])
    }
  })

const renameTags = fc
  .tuple(fc.uniqueArray(fc.tuple(name, name), { minLength: 1, maxLength: 3, selector: ([from]) => from }))
  .map(([renames]): Command => {
    return async (world) => {
      if (!world.bench.historian.capabilities.renameTags) return
      await both(world, (historian) =>
        historian.renameTags!(
          renames.map(([from, to]) => ({ from: world.prefix + from, to: world.prefix + to })),
          false,
          context,
        ),
      )
    }
  })

const reopen = fc.constant<Command>(async ({ bench }) => bench.reopen?.())

const flush = fc.constant<Command>(async ({ bench }) => bench.flush?.())

const readRange = fc
  .tuple(name, span, fc.constantFrom('asc' as const, 'desc' as const), fc.constantFrom(1, 2, 7, 4_092, 1e6))
  .map(([tag, range, order, limit]): Command => {
    return async (world) => {
      const query = { tag: world.prefix + tag, ...range, order, limit }
      const [actual] = await world.bench.historian.readRanges([query], context)
      const [expected] = await world.model.readRanges([query], context)
      assertPoints(actual!.points, expected!.points)
      assert.equal(actual!.more, expected!.more)
      const [estimate] = await world.bench.historian.estimatePoints([query], 1e9, context)
      const [count] = await world.model.estimatePoints([query], 1e9, context)
      assert.ok(estimate! >= count! && estimate! <= 4 * count!)
    }
  })

const readPoint = fc
  .tuple(
    name,
    edge,
    fc.constantFrom('before' as const, 'before-or-at' as const, 'after' as const, 'after-or-at' as const),
  )
  .map(([tag, instant, find]): Command => {
    return async (world) => {
      const query = { tag: world.prefix + tag, find, at: at(instant) }
      const actual = await world.bench.historian.readPoints([query], context)
      const expected = await world.model.readPoints([query], context)
      assert.deepEqual(actual.times, expected.times)
      if (!Number.isNaN(expected.times[0])) assertPoints(actual, expected)
    }
  })

const readBoundingValues = fc
  .tuple(name, fc.uniqueArray(edge, { minLength: 1, maxLength: 12 }))
  .map(([tag, instants]): Command => {
    return async (world) => {
      const times = Float64Array.from(instants).sort()
      const [actual] = await world.bench.historian.readBoundingValues([world.prefix + tag], times, context)
      const [expected] = await world.model.readBoundingValues([world.prefix + tag], times, context)
      assert.deepEqual(actual!.beforeTimes, expected!.beforeTimes)
      assert.deepEqual(actual!.afterTimes, expected!.afterTimes)
      for (let i = 0; i < times.length; i++) {
        if (!Number.isNaN(expected!.beforeTimes[i])) {
          assert.equal(actual!.beforeValues[i], expected!.beforeValues[i])
        }
        if (!Number.isNaN(expected!.afterTimes[i])) {
          assert.equal(actual!.afterValues[i], expected!.afterValues[i])
        }
      }
    }
  })

const shape = fc
  .tuple(fc.boolean(), edge)
  .map(([stepped, hold]): SignalShape => ({ stepped, holdUntil: at(hold) }))

/** Ascending instants. */
const instants = fc
  .uniqueArray(edge, { minLength: 2, maxLength: 12 })
  .map((all) => Float64Array.from(all).sort())

/** All points that a tag has, by the model. */
const rawOf = async ({ model, prefix }: World, tag: string) => {
  const [read] = await model.readRanges([{ tag: prefix + tag, ...EVER, order: 'asc', limit: 1e9 }], context)
  return read!.points
}

/**
 * Equal but for what rounding makes of sums in another order; where a number does not fit into a double, neither does
 * the other.
 */
function assertClose(actual: Float64Array, expected: Float64Array, message: string): void {
  assert.equal(actual.length, expected.length, message)
  for (let i = 0; i < actual.length; i++) {
    const isClose = Number.isFinite(expected[i]!)
      ? Math.abs(actual[i]! - expected[i]!) <= 1e-9 * Math.max(1, Math.abs(expected[i]!))
      : !Number.isFinite(actual[i]!)
    assert.ok(isClose, `${message} at ${i}: ${actual[i]} is not ${expected[i]}`)
  }
}

const SMALLEST_NORMAL = 2 ** -1022

const readAggregates = fc.tuple(name, instants, shape).map(([tag, edges, signal]): Command => {
  return async (world) => {
    const { historian } = world.bench
    const { aggregates } = historian.capabilities
    if (aggregates.length === 0) return
    const query = { tag: world.prefix + tag, edges, aggregates, ...signal }
    const [found] = await historian.readAggregates!([query], context)
    const raw = await rawOf(world, tag)
    const expected = aggregatesOf(raw, edges, aggregates, signal)
    const hasTiny = raw.values.some((value) => value !== 0 && Math.abs(value) < SMALLEST_NORMAL)
    for (const one of aggregates) {
      // A line to a value that small is 0 where it is cut, and it depends on the way where that is.
      if (hasTiny && (one === 'durationZero' || one === 'durationNonZero')) continue
      assertClose(found![one]!, expected[one]!, `${one} of ${tag}`)
    }
  }
})

const readInterpolated = fc.tuple(name, instants, shape).map(([tag, times, signal]): Command => {
  return async (world) => {
    const { historian } = world.bench
    if (!historian.capabilities.interpolation) return
    const [found] = await historian.readInterpolated!(
      [{ tag: world.prefix + tag, times, ...signal }],
      context,
    )
    const [boundingValues] = await world.model.readBoundingValues([world.prefix + tag], times, context)
    assertClose(found!, interpolate(boundingValues!, times, signal), `interpolated ${tag}`)
  }
})

const readIntegrals = fc.tuple(name, instants, shape).map(([tag, edges, signal]): Command => {
  return async (world) => {
    const { historian } = world.bench
    if (!historian.capabilities.integrals) return
    // Every other span between two edges.
    const starts = edges.filter((_, index) => index % 2 === 0 && index + 1 < edges.length)
    const ends = edges.filter((_, index) => index % 2 === 1)
    const query = { tag: world.prefix + tag, starts, ends, ...signal }
    const [found] = await historian.readIntegrals!([query], context)
    const expected = integralsOf(await rawOf(world, tag), starts, ends, signal)
    assertClose(found!.integrals, expected.integrals, `integrals of ${tag}`)
    assertClose(found!.coveredUs, expected.coveredUs, `covered of ${tag}`)
  }
})

const search = fc.constantFrom('*', 'p*', '*P*', 'flow/?', 'um', 'PUMP').map((text): Command => {
  return (world) => {
    // The prefix of the run keeps tags of other runs out.
    const wanted = parseTagPattern(text)
    const pattern = {
      text: `${world.prefix}*`,
      narrow: [`${world.prefix}*`],
      matches: (tag: string, description: string | null) =>
        tag.startsWith(world.prefix) && wanted.matches(tag.slice(world.prefix.length), description),
    }
    return both(world, (historian) => historian.searchTags({ pattern, after: null, limit: 3 }, context))
  }
})

const command = fc.oneof(
  { weight: 6, arbitrary: write },
  { weight: 2, arbitrary: writeTogether },
  { weight: 1, arbitrary: putTags },
  { weight: 2, arbitrary: deletePoints },
  { weight: 1, arbitrary: deleteTags },
  { weight: 1, arbitrary: renameTags },
  { weight: 1, arbitrary: reopen },
  { weight: 3, arbitrary: flush },
  { weight: 3, arbitrary: readRange },
  { weight: 2, arbitrary: readPoint },
  { weight: 2, arbitrary: readBoundingValues },
  { weight: 2, arbitrary: readAggregates },
  { weight: 1, arbitrary: readInterpolated },
  { weight: 1, arbitrary: readIntegrals },
  { weight: 1, arbitrary: search },
)

export function declareModelPromises(promised: Promised): void {
  promised('any sequence of commands gives what a plain model in memory gives', async (bench) => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 60 }), async (commands) => {
        const world = { bench, model: new MemoryHistorian('model'), prefix: `${bench.tag()}/` }
        for (const act of commands) await act(world)
        for (const tag of NAMES) {
          const query = {
            tag: world.prefix + tag,
            from: at(-1e9),
            to: at(1e9),
            order: 'asc',
            limit: 1e6,
          } as const
          const [actual] = await bench.historian.readRanges([query], context)
          const [expected] = await world.model.readRanges([query], context)
          assertPoints(actual!.points, expected!.points, tag)
        }
      }),
      { numRuns: Number(process.env.CONTRACT_RUNS ?? RUNS) },
    )
  })
}
