import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { SERVER_AGGREGATES } from '../../../src/drivers/postgres/aggregates.ts'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { QueryMeter } from '../../../src/historian/remote/meter.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { type AggregateName, FIRST_AGGREGATE_NAMES } from '../../../src/series/aggregate-names.ts'
import { type SlowRow, slowAggregates, slowTag } from '../../../src/series/slow-aggregates.fixture.ts'
import { at, points } from '../../contract/points.ts'
import { found, type PostgresServer, startPostgres, testEnvironment } from '../../servers/postgres.ts'

/**
 * What the server works out of a few points, against loops over microseconds, for tables of its own and existing ones.
 */

const context = { signal: new AbortController().signal }
/** 2026-03-01T00:00:00Z, which rows count from. */
const START = 1_772_323_200_000_000
const SPAN = 40
const RUNS = 60
/** Those that the server works out beyond the first fourteen; the others follow from them. */
const FURTHER = SERVER_AGGREGATES.filter(
  (name) => !(FIRST_AGGREGATE_NAMES as readonly string[]).includes(name),
)

type Expected = { readonly [name in AggregateName]?: number | null }

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.constantFrom(0, 0, 0, 1, 2, 2, 5, -3), fc.nat(4)), {
    maxLength: 20,
    selector: ([time]) => time,
  })
  .map((all) => all.sort(([a], [b]) => a - b).map(([time, value, bad]): SlowRow => [time, value, bad === 0]))

const instant = fc.integer({ min: -8, max: SPAN + 12 })
const edgesOf = (fewest: number) =>
  fc
    .uniqueArray(instant, { minLength: fewest, maxLength: 6 })
    .map((edges) => Float64Array.from(edges, (edge) => START + edge).sort())

describe('what a PostgreSQL works out', { skip: found.skip }, () => {
  let server: PostgresServer
  const meter = new QueryMeter()
  const historians = new Map<string, Historian>()
  let tags = 0
  before(async () => {
    server = await startPostgres({ settings: 'fsync=off' })
    await server.sql('CREATE TABLE narrow (tag text, at timestamptz, v float8, status int)')
    await server.sql('CREATE INDEX ON narrow (tag, at)')
    await server.sql(
      'CREATE TABLE wide (machine text, at bigint, v float8, status int, UNIQUE (machine, at))',
    )
    const { schema, ...config } = server.config('own')
    const status = { column: 'status', good: ['0'] }
    const configs = {
      own: { ...config, schema },
      narrow: {
        ...config,
        existing: { points: { table: 'narrow', tag: 'tag', time: 'at', value: 'v', status } },
      },
      wide: {
        ...config,
        existing: {
          wide: [{ table: 'wide', tag: 'machine', time: 'at', timeUnit: 'us', values: { v: 'V' }, status }],
        },
      },
    }
    for (const [name, one] of Object.entries(configs)) {
      const environment = { ...testEnvironment(), meter }
      historians.set(name, await postgres.open(postgresConfigSchema.parse(one), environment))
    }
    for (const historian of historians.values()) await historian.checkHealth(context)
  })
  after(async () => {
    for (const historian of historians.values()) await historian.close()
    await server.stop('immediate')
  })

  /** Stores rows in all tables, under a new name; gives each historian with the tag's name there. */
  async function store(all: readonly SlowRow[]) {
    const tag = `T${tags++}`
    const batch = points(...all.map(([time, value, bad]) => [START + time, value, Number(bad)] as const))
    await historians.get('own')!.write(writeBatch([{ tag, points: batch }], true), context)
    const from = `FROM own.points AS p JOIN own.tags AS t ON t.id = p.tag_id WHERE t.name = $1`
    await server.sql(
      `INSERT INTO narrow SELECT t.name, 'epoch'::timestamptz + p.time * interval '1 microsecond', p.value, p.status ${from}`,
      [tag],
    )
    await server.sql(`INSERT INTO wide SELECT t.name, p.time, p.value, p.status ${from}`, [tag])
    return Array.from(historians, ([name, historian]) => ({
      name,
      historian,
      tag: name === 'wide' ? `${tag}.V` : tag,
    }))
  }

  /** The answer to a call that has to be so many queries. */
  async function asked<Result>(queries: number, call: () => Promise<Result>): Promise<Result> {
    meter.reset()
    const result = await call()
    assert.equal(meter.total(), queries, 'queries')
    return result
  }

  const shape = {
    stepped: fc.boolean(),
    now: fc.integer({ min: -3, max: SPAN + 10 }),
    /** 0 for no limit. */
    gap: fc.constantFrom(0, 0, 2, 3, 7),
  }
  const shapeOf = ({ stepped, now, gap }: { stepped: boolean; now: number; gap: number }) => ({
    stepped,
    holdUntil: at(START + now),
    ...(gap > 0 && { maxGapUs: gap }),
  })

  function assertSame(value: number, expected: number | null | undefined, message: string): void {
    const wanted = expected ?? Number.NaN
    const isSame = Number.isNaN(wanted) ? Number.isNaN(value) : Math.abs(value - wanted) <= 1e-9
    assert.ok(isSame, `${message} is ${value}, not ${wanted}`)
  }

  test('aggregates over windows are those of the points, in one query', async () => {
    const wanted = fc.oneof(fc.constant(null), fc.subarray([...FURTHER], { minLength: 1, maxLength: 3 }))
    const setting = fc.record({ rows, edges: edgesOf(2), ...shape, wanted })
    await fc.assert(
      fc.asyncProperty(setting, async ({ rows: all, edges, wanted, ...one }) => {
        const slow = slowTag(all, one.stepped, one.now, one.gap)
        for (const { name: title, historian, tag } of await store(all)) {
          const aggregates = wanted ?? historian.capabilities.aggregates
          const [columns] = await asked(1, () =>
            historian.readAggregates!([{ tag, edges, aggregates, ...shapeOf(one) }], context),
          )
          for (let i = 0; i + 1 < edges.length; i++) {
            const [from, to] = [edges[i]! - START, edges[i + 1]! - START]
            const expected: Expected = slowAggregates(slow, from, to, one.now)
            for (const name of aggregates) {
              if (expected[name] === undefined) continue
              const since = name === 'minTime' || name === 'maxTime' ? START : 0
              assertSame(columns![name]![i]! - since, expected[name], `${title}: ${name} in [${from}, ${to})`)
            }
          }
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('integrals and values are those of the signal, in one query', async () => {
    const setting = fc.record({ rows, edges: edgesOf(2), times: edgesOf(1), ...shape })
    await fc.assert(
      fc.asyncProperty(setting, async ({ rows: all, edges, times, ...one }) => {
        const slow = slowTag(all, one.stepped, one.now, one.gap)
        // Every other span between two edges, and an empty one.
        const starts = edges.filter((_, i) => i % 2 === 0)
        const ends = starts.map((start, i) => edges[2 * i + 1] ?? start)
        for (const { name: title, historian, tag } of await store(all)) {
          const query = { tag, starts, ends, ...shapeOf(one) }
          const [found] = await asked(1, () => historian.readIntegrals!([query], context))
          starts.forEach((start, i) => {
            const [from, to] = [start - START, ends[i]! - START]
            const { total, durationZero, durationNonZero } = slowAggregates(slow, from, to, one.now)
            const message = `${title}: of [${from}, ${to}) the`
            assertSame(found!.integrals[i]!, total ?? 0, `${message} integral`)
            assertSame(
              found!.coveredUs[i]!,
              (durationZero + durationNonZero) * 1e6,
              `${message} covered time`,
            )
          })
          const [values] = await asked(1, () =>
            historian.readInterpolated!([{ tag, times, ...shapeOf(one) }], context),
          )
          times.forEach((time, i) => {
            assertSame(values![i]!, slow.at(time - START), `${title}: the value at ${time - START}`)
          })
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('charts have the extremes of each column and a break where the signal ends', async () => {
    const setting = fc.record({ rows, edges: edgesOf(2), ...shape })
    await fc.assert(
      fc.asyncProperty(setting, async ({ rows: all, edges, stepped, gap }) => {
        const expected = slowPlot(
          all,
          Array.from(edges, (edge) => edge - START),
          gap,
        )
        for (const { name: title, historian, tag } of await store(all)) {
          const query = { tag, edges, stepped, ...(gap > 0 && { maxGapUs: gap }) }
          meter.reset()
          const [plot] = await historian.readPlots!([query], context)
          assert.ok(meter.total() <= 3, 'BEGIN, the columns, and once what they leave open')
          const { times, values } = plot!.points
          const good = Array.from(times, (time, i) => [time - START, values[i]!] as const).filter(
            ([, value]) => !Number.isNaN(value),
          )
          assert.deepEqual(good, expected.good, title)
          const breaks = Array.from(
            times.filter((_, i) => Number.isNaN(values[i]!)),
            (time) => time - START,
          )
          for (const bad of expected.firstBad) assert.ok(breaks.includes(bad), `${title}: BAD at ${bad}`)
          for (let i = 0; i + 1 < good.length; i++) {
            const [from, to] = [good[i]![0], good[i + 1]![0]]
            const isBroken = breaks.some((time) => time > from && time < to)
            assert.equal(isBroken, expected.isBroken(from, to), `${title}: between ${from} and ${to}`)
          }
          assert.equal(plot!.sampled, expected.sampled, `${title}: sampled`)
        }
      }),
      { numRuns: 2 * RUNS },
    )
  })

  test('gaps are those between the points, in one query', async () => {
    const search = fc.record({
      range: fc.uniqueArray(instant, { minLength: 2, maxLength: 2 }),
      longerThanUs: fc.integer({ min: 1, max: 12 }),
      limit: fc.constantFrom(1, 2, 3, 100),
    })
    const setting = fc.record({ rows, searches: fc.array(search, { minLength: 1, maxLength: 4 }) })
    await fc.assert(
      fc.asyncProperty(setting, async ({ rows: all, searches }) => {
        for (const { name: title, historian, tag } of await store(all)) {
          const queries = searches.map(({ range, ...search }) => {
            const [from, to] = range.map((time) => START + time).sort((a, b) => a - b)
            return { tag, from: from!, to: to!, ...search }
          })
          const pages = await asked(1, () => historian.readGaps!(queries, context))
          queries.forEach(({ from, to, longerThanUs, limit }, i) => {
            const expected = slowGaps(all, from - START, to - START, longerThanUs)
            const { from: starts, to: ends, bad, more } = pages[i]!
            const gaps = Array.from(starts, (start, n) => [start - START, ends[n]! - START, bad[n]! === 1])
            assert.deepEqual(gaps, expected.slice(0, limit), title)
            assert.equal(more, expected.length > limit, title)
          })
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('an answer is of one state of the points while all of them are written anew', async () => {
    const own = historians.get('own')!
    const tag = `T${tags++}`
    /** Three points, one above the other. */
    const rewrite = (value: number) => {
      const batch = points(...[0, 1, 2].map((i) => [START + i, value + i] as const))
      return own.write(writeBatch([{ tag, points: batch }], true), context)
    }
    await rewrite(0)
    let isReading = true
    let rewritten = 0
    const writer = async () => {
      while (isReading) await rewrite(10 * ++rewritten)
    }
    const reader = async () => {
      const query = { tag, edges: Float64Array.of(START, START + 3), stepped: true }
      for (let round = 0; round < 100; round++) {
        const aggregates = ['min', 'maxTime', 'last', 'total', 'startBound'] as const
        const [found] = await own.readAggregates!(
          [{ ...query, aggregates, holdUntil: at(START + 3) }],
          context,
        )
        const least = found!.min![0]!
        assert.deepEqual(
          aggregates.map((name) => found![name]![0]),
          [least, START + 2, least + 2, 3 * least + 3, least],
        )
        // The one in the middle is asked for once the others are known.
        const [plot] = await own.readPlots!([query], context)
        const [first] = plot!.points.values
        assert.deepEqual([...plot!.points.values], [first, first! + 1, first! + 2])
      }
    }
    await Promise.all([writer(), reader().finally(() => (isReading = false))])
    assert.ok(rewritten > 10, `written only ${rewritten} times`)
  })

  test('a name that no table can have is no hindrance to others of other shapes', async () => {
    for (const { historian, tag } of await store([[0, 1, false]])) {
      const query = { edges: Float64Array.of(START, START + 5), aggregates: ['total'], maxGapUs: 2 } as const
      const queries = [
        { ...query, tag, stepped: false, holdUntil: at(START + 9) },
        { ...query, tag: 'nul\0name', stepped: true, holdUntil: at(START + 9) },
      ]
      const [known, unknown] = await asked(1, () => historian.readAggregates!(queries, context))
      assert.deepEqual([known!.total![0], unknown!.total![0]], [2, Number.NaN])
    }
  })

  test('a tag that does not exist is a gap of the whole range', async () => {
    for (const historian of historians.values()) {
      const search = { from: START, to: START + 10, limit: 1 }
      const queries = [
        { tag: 'no such tag', ...search, longerThanUs: 9 },
        { tag: 'no such tag', ...search, longerThanUs: 10 },
      ]
      const [whole, none] = await historian.readGaps!(queries, context)
      assert.deepEqual([...whole!.from, ...whole!.to, ...whole!.bad], [START, START + 10, 0])
      assert.equal(none!.from.length, 0)
    }
  })
})

/** From one good point, or end of the range, to the next. */
function slowGaps(all: readonly SlowRow[], from: number, to: number, longerThan: number) {
  const inside = all.filter(([time]) => time >= from && time < to)
  const stops = [from, ...inside.filter(([, , bad]) => !bad).map(([time]) => time), to]
  const gaps: [number, number, boolean][] = []
  for (let i = 0; i + 1 < stops.length; i++) {
    const [start, end] = [stops[i]!, stops[i + 1]!]
    const hasBad = inside.some(([time, , bad]) => bad && time >= start && time < end)
    if (end - start > longerThan) gaps.push([start, end, hasBad])
  }
  return gaps
}

/** Of each column the first, least, greatest and last good point, all of them where there are fewer than four. */
function slowPlot(all: readonly SlowRow[], edges: readonly number[], gap: number) {
  const good: (readonly [number, number])[] = []
  const firstBad: number[] = []
  let sampled = false
  for (let i = 0; i + 1 < edges.length; i++) {
    const inside = all.filter(([time]) => time >= edges[i]! && time < edges[i + 1]!)
    const bad = inside.filter((row) => row[2])
    const rest = inside.filter((row) => !row[2]).map(([time, value]) => [time, value] as const)
    const values = rest.map(([, value]) => value)
    const least = rest.find(([, value]) => value === Math.min(...values))
    const greatest = rest.find(([, value]) => value === Math.max(...values))
    const given = rest.filter(
      (row) => rest.length < 4 || [rest[0], least, greatest, rest.at(-1)].includes(row),
    )
    good.push(...given)
    if (bad.length > 0) firstBad.push(bad[0]![0])
    if (given.length < rest.length || bad.length > 1) sampled = true
  }
  const times = all.filter((row) => !row[2]).map(([time]) => time)
  const isBroken = (from: number, to: number): boolean =>
    firstBad.some((time) => time > from && time < to) ||
    times.some((time, i) => gap > 0 && time >= from && time < to && times[i + 1]! - time > gap)
  return { good, firstBad, sampled, isBroken }
}
