import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { boundTimes } from '../../../src/calc/leaves/aggregate-sources.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { QueryMeter } from '../../../src/historian/remote/meter.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import {
  AGGREGATE_NAMES,
  type AggregateName,
  FIRST_AGGREGATE_NAMES,
} from '../../../src/series/aggregate-names.ts'
import { PlotSampler } from '../../../src/series/plot.ts'
import {
  type Slow,
  type SlowRow,
  slowAggregates,
  slowTag,
} from '../../../src/series/slow-aggregates.fixture.ts'
import { evenEdges } from '../../../src/time/grid.ts'
import { at, points, ramp } from '../../contract/points.ts'
import type { ClickhouseEngine } from '../../servers/clickhouse.ts'
import { ENGINES } from '../../servers/clickhouse-engines.ts'
import { openHistorian } from './open.ts'

/** What the server works out of signals, against loops over arrays that share no code with the engine or its SQL. */

const context = { signal: new AbortController().signal }
const SPAN = 40
const FURTHER = AGGREGATE_NAMES.filter((name) => !(FIRST_AGGREGATE_NAMES as readonly string[]).includes(name))
const RUNS = { numRuns: Number(process.env.CONTRACT_RUNS ?? 12) }
const TAGS_OF_RUN = 8

const rows: fc.Arbitrary<readonly SlowRow[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.constantFrom(0, 0, 0, 1, 2, 5, -3), fc.nat(4)), {
    maxLength: 14,
    selector: ([time]) => time,
  })
  .map((rows) =>
    rows.sort(([a], [b]) => a - b).map(([time, value, bad]): SlowRow => [time, value, bad === 0]),
  )

const edges = fc
  .uniqueArray(fc.integer({ min: -8, max: SPAN + 12 }), { minLength: 2, maxLength: 6 })
  .map((edges) => Float64Array.from(edges).sort())

const setting = fc.record({
  tags: fc.array(
    fc.record({ rows, stepped: fc.boolean(), gap: fc.constantFrom(0, 0, 3, 7), isOverwritten: fc.boolean() }),
    { minLength: TAGS_OF_RUN, maxLength: TAGS_OF_RUN },
  ),
  now: fc.integer({ min: -3, max: SPAN + 10 }),
  edges,
})
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never

/** A tag that was written, with its plain loops. */
interface Written {
  readonly tag: string
  readonly rows: readonly SlowRow[]
  readonly shape: {
    readonly stepped: boolean
    readonly holdUntil: ReturnType<typeof at>
    readonly maxGapUs?: number
  }
  readonly slow: Slow
}

let tagCount = 0

async function write(historian: Historian, { tags, now }: Setting): Promise<readonly Written[]> {
  const written = tags.map(({ rows, stepped, gap }) => ({
    tag: `T${++tagCount}`,
    rows,
    shape: { stepped, holdUntil: at(now), ...(gap > 0 && { maxGapUs: gap }) },
    slow: slowTag(rows, stepped, now, gap),
  }))
  const columnsOf = (of: readonly SlowRow[], value: (own: number) => number) =>
    points(...of.map(([time, own, bad]) => [time, value(own), Number(bad)] as const))
  // Other values first, so that there are two versions of some points.
  const overwritten = written
    .filter((_, i) => tags[i]!.isOverwritten)
    .map(({ tag, rows: of }) => ({ tag, points: columnsOf(of.slice(0, 5), (own) => own + 7) }))
  if (overwritten.length > 0) await historian.write(writeBatch(overwritten, true), context)
  const all = written.map(({ tag, rows: of }) => ({ tag, points: columnsOf(of, (own) => own) }))
  await historian.write(writeBatch(all, true), context)
  return written
}

function assertSame(value: number, wanted: number | null, what: string): void {
  const isSame = wanted === null ? Number.isNaN(value) : Math.abs(value - wanted) <= 1e-9
  assert.ok(isSame, `${what} is ${value}, not ${wanted}`)
}

for (const engine of ENGINES) {
  describe(`signals that are worked out by ${engine.name}`, { skip: engine.skip }, () => {
    let server: ClickhouseEngine
    let historian: Historian
    const meter = new QueryMeter()
    before(async () => {
      server = await engine.start()
      historian = await openHistorian({ urls: [server.url], database: 'signals' }, { meter })
    })
    after(async () => {
      await historian?.close()
      await server?.kill()
    })

    test('every aggregate but the median is computed there, with a limit of how long points are good for', () => {
      const { aggregates, signalGaps } = historian.capabilities
      assert.deepEqual(
        AGGREGATE_NAMES.filter((name) => !aggregates.includes(name)),
        ['median'],
      )
      assert.equal(signalGaps, true)
    })

    test('further aggregates are those of the points and of the signal', async () => {
      await fc.assert(
        fc.asyncProperty(setting, fc.subarray(FURTHER, { minLength: 1 }), async (setting, some) => {
          const written = await write(historian, setting)
          for (const aggregates of [FURTHER, some]) {
            const found = await historian.readAggregates!(
              written.map(({ tag, shape }) => ({ tag, edges: setting.edges, aggregates, ...shape })),
              context,
            )
            written.forEach(({ tag, slow }, i) => {
              assertWindows(found[i]!, aggregates, setting, slow, `${tag} ${JSON.stringify(setting)}`)
            })
          }
        }),
        RUNS,
      )
    })

    test('integrals are those of the signal, spans apart from each other too', async () => {
      await fc.assert(
        fc.asyncProperty(setting, async (setting) => {
          const written = await write(historian, setting)
          const { edges } = setting
          const pairs = Array.from({ length: Math.floor(edges.length / 2) }, (_, i) => 2 * i)
          const starts = Float64Array.from(pairs, (i) => edges[i]!)
          const ends = Float64Array.from(pairs, (i) => edges[i + 1]!)
          const found = await historian.readIntegrals!(
            written.map(({ tag, shape }) => ({ tag, starts, ends, ...shape })),
            context,
          )
          written.forEach(({ slow }, i) => {
            for (let span = 0; span < starts.length; span++) {
              const { total } = slowAggregates(slow, starts[span]!, ends[span]!, setting.now)
              assertSame(found[i]!.integrals[span]!, total ?? 0, 'integral')
            }
          })
        }),
        RUNS,
      )
    })

    test('values at window edges and right before them are those of the signal', async () => {
      await fc.assert(
        fc.asyncProperty(setting, async (setting) => {
          const written = await write(historian, setting)
          const times = Float64Array.from(
            new Set([...setting.edges].flatMap((edge) => [edge - 1, edge])),
          ).sort()
          const found = await historian.readInterpolated!(
            written.map(({ tag, shape }) => ({ tag, times, ...shape })),
            context,
          )
          written.forEach(({ slow }, i) => {
            times.forEach((time, k) => {
              assertSame(found[i]![k]!, slow.at(time), `value at ${time}`)
            })
          })
        }),
        RUNS,
      )
    })

    test('charts break where the signal ends', async () => {
      await fc.assert(
        fc.asyncProperty(setting, async (setting) => {
          const written = await write(historian, setting)
          const found = await historian.readPlots!(
            written.map(({ tag, shape: { holdUntil, ...gaps } }) => ({ tag, edges: setting.edges, ...gaps })),
            context,
          )
          written.forEach(({ rows: own, shape: { holdUntil, ...gaps } }, i) => {
            const plot = new PlotSampler(setting.edges, { gaps })
            plot.add(
              points(
                ...own.map(([time, value, bad]) => [time, bad ? Number.NaN : value, Number(bad)] as const),
              ),
            )
            assert.deepEqual(found[i], plot.finish(), JSON.stringify([setting.edges, own, gaps]))
          })
        }),
        RUNS,
      )
    })

    test('of comparisons the points come at which they change, whatever other values there are', async () => {
      const count = 300_000
      const step = 1_000_000
      const columns = ramp(count, 0, step)
      // Runs of 1,000 points above 0, and of 500 at 0; no value is that of the point before.
      columns.values.forEach((_, i) => {
        columns.values[i] = i % 1_500 < 1_000 ? 1 + (i % 7) / 10 : 0
      })
      await historian.write(writeBatch([{ tag: 'run', points: columns }], true), context)
      const range = { tag: 'run', from: at(0), to: at(count * step) }
      for (const [maxGapUs, most] of [
        [undefined, 820],
        [10 * step, count / 9],
        // Every point is too far from the next.
        [step - 1, count],
      ] as const) {
        const compared = { thresholds: [0], ...(maxGapUs !== undefined && { maxGapUs }) }
        meter.reset()
        const query = { ...range, compared, order: 'asc', limit: count } as const
        const [found] = await historian.readRanges([query], context)
        const { times, values } = found!.points
        assert.equal(found!.more, false)
        assert.ok(times.length <= most && times.length >= 799, `${times.length} points`)
        let above = 0
        for (let i = 0; i + 1 < times.length; i++) if (values[i]! > 0) above += times[i + 1]! - times[i]!
        assert.equal(above, 200 * 1_000 * step)
        // The count by the index; of two segments each its own and the points.
        assert.equal(meter.total(), 5)
        meter.reset()
        const [estimate] = await historian.estimatePoints([{ ...range, compared }], 1e9, context)
        assert.ok(estimate! >= times.length, `${estimate} estimated, ${times.length} given`)
        assert.ok(estimate! <= count)
        assert.equal(meter.total(), 2)
      }
    })

    test('a call sends as many queries for a hundred tags as for one', async () => {
      const tags = Array.from({ length: 100 }, (_, i) => `Q${i}`)
      const step = 1_000_000
      await historian.write(
        writeBatch(
          tags.map((tag) => ({ tag, points: ramp(100, 0, step) })),
          true,
        ),
        context,
      )
      const windows = evenEdges(at(1), at(99 * step), 24)
      const many = evenEdges(at(1), at(99 * step), 1_000)
      const shape = { stepped: false, holdUntil: at(99 * step) }
      const sentBy = async (call: (tags: readonly string[]) => Promise<unknown>) => {
        const sent: number[] = []
        for (const some of [tags.slice(0, 1), tags]) {
          meter.reset()
          await call(some)
          sent.push(meter.total())
        }
        return sent
      }
      const aggregates = (names: readonly AggregateName[], maxGapUs?: number) => (some: readonly string[]) =>
        historian.readAggregates!(
          some.map((tag, i) => ({
            ...{ tag, edges: windows, aggregates: names, ...shape, stepped: i % 2 === 1 },
            ...(maxGapUs !== undefined && { maxGapUs }),
          })),
          context,
        )
      // The count by the index and the sums; beside them the points around the windows.
      assert.deepEqual(await sentBy(aggregates(['avg', 'varP', 'percentGood'])), [2, 2])
      assert.deepEqual(await sentBy(aggregates(['total', 'coverage', 'durationNonZero'])), [3, 3])
      assert.deepEqual(await sentBy(aggregates(FURTHER)), [3, 3])
      assert.deepEqual(await sentBy(aggregates(FURTHER, 2 * step)), [3, 3])
      const plots = (maxGapUs?: number) => (some: readonly string[]) =>
        historian.readPlots!(
          some.map((tag) => ({
            tag,
            edges: many,
            stepped: false,
            ...(maxGapUs !== undefined && { maxGapUs }),
          })),
          context,
        )
      assert.deepEqual(await sentBy(plots()), [2, 2])
      assert.deepEqual(await sentBy(plots(step)), [2, 2])
      // The values at the edges of windows and a microsecond before: the segments between are an even grid.
      const times = boundTimes(many)
      const bounds = (some: readonly string[]) =>
        historian.readInterpolated!(
          some.map((tag) => ({ tag, times, ...shape })),
          context,
        )
      assert.deepEqual(await sentBy(bounds), [2, 2])
    })
  })
}

function assertWindows(
  found: Readonly<Partial<Record<AggregateName, Float64Array>>>,
  names: readonly AggregateName[],
  { edges, now }: Setting,
  slow: Slow,
  what: string,
): void {
  for (let i = 0; i + 1 < edges.length; i++) {
    const expected = slowAggregates(slow, edges[i]!, edges[i + 1]!, now)
    for (const name of names) {
      const wanted = expected[name as keyof typeof expected] ?? null
      assertSame(found[name]![i]!, wanted, `${name} in [${edges[i]}, ${edges[i + 1]}) of ${what}`)
    }
  }
}
