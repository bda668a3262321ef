import { clickhouseConfigSchema } from '../../src/drivers/clickhouse/config.ts'
import { ClickhouseHistorian } from '../../src/drivers/clickhouse/driver.ts'
import { CALL_LIMITS, defaultsOf } from '../../src/errors/limits.ts'
import { HistorianRegistry } from '../../src/historian/registry.ts'
import { QueryMeter } from '../../src/historian/remote/meter.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { runMulti } from '../../src/multi/run.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { evenEdges, evenGrid } from '../../src/time/grid.ts'
import { type Instant, instantFromUs } from '../../src/time/instant.ts'
import { UTC } from '../../src/time/zone.ts'
import { clickhouseServer, startClickhouse } from '../../test/servers/clickhouse.ts'
import { endAll } from '../../test/servers/required.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'

/** ClickHouse on this machine through the driver contract, with the queries that one call sends to it. */
const TAGS = Array.from({ length: 100 }, (_, tag) => `T${tag}`)
const MANY = Array.from({ length: 10_000 }, (_, tag) => `M${tag}`)
const SECONDS = 20_000
const LONG = 2_000_000
const SECOND = 1_000_000
const START = Date.UTC(2026, 0, 1) * 1_000
const NOW = instantFromUs(START + SECONDS * SECOND)
const context = { signal: new AbortController().signal }
const random = seededRandom(1)
const results: Measurement[] = []

if (clickhouseServer.skip === false) {
  const server = await startClickhouse()
  const meter = new QueryMeter()
  const log = { info() {}, warn() {}, error() {} }
  const config = clickhouseConfigSchema.parse({ urls: [server.url] })
  const historian = new ClickhouseHistorian(config, { name: 'bench', directory: '', log, meter })
  try {
    await measureWrites(historian, meter)
    await measureReads(historian, meter)
    await measureQuestions(historian, meter)
    const [rows, bytes] = (
      await server.sql(
        "SELECT sum(rows), sum(bytes) FROM system.parts WHERE active AND database = 'tidemark' AND table = 'points'",
      )
    ).split('\t')
    results.push({
      name: 'drivers/clickhouse/disk',
      runs: 1,
      medianMs: 0,
      p99Ms: 0,
      items: null,
      note: `${(Number(bytes) / Number(rows)).toFixed(2)} bytes a row of ${rows}`,
    })
  } finally {
    await historian.close()
    await server.kill()
    endAll()
  }
} else process.stderr.write(`${clickhouseServer.skip}\n`)
process.stdout.write(JSON.stringify(results))

/** Values with 2 decimals that wander, as sensors do. */
function columns(count: number, from: number): PointColumns {
  const points = makeColumns(count)
  let level = 50
  for (let i = 0; i < count; i++) {
    level += (random() - 0.5) * 0.2
    points.times[i] = from + i * SECOND
    points.values[i] = Math.round(level * 100) / 100
  }
  return points
}

/** Measures a task and notes how many queries one run of it sends. */
async function record(
  meter: QueryMeter,
  name: string,
  items: number,
  runs: number,
  task: (run: number) => Promise<void>,
): Promise<void> {
  await task(0)
  meter.reset()
  await task(1)
  const queries = meter.total()
  const note = queries === 1 ? '1 query' : `${queries} queries`
  const measured = await measure(`drivers/clickhouse/${name}`, (run) => task(run + 2), {
    warmUps: Math.ceil(runs / 4),
    runs,
    items,
    note,
  })
  results.push(measured)
}

async function measureWrites(historian: ClickhouseHistorian, meter: QueryMeter): Promise<void> {
  await record(meter, 'write/10000-tags-x-1', MANY.length, 40, async (run) => {
    const points = columns(1, START + run * SECOND)
    await historian.write(
      writeBatch(
        MANY.map((tag) => ({ tag, points })),
        true,
      ),
      context,
    )
  })
  await record(meter, 'write/1000-tags-x-10', 10_000, 40, async (run) => {
    const points = columns(10, START + run * 10 * SECOND)
    const entries = MANY.slice(0, 1_000).map((tag) => ({ tag: `W${tag}`, points }))
    await historian.write(writeBatch(entries, true), context)
  })
  await record(meter, 'write/backfill-50000', 50_000, 38, async (run) => {
    const points = columns(50_000, START + run * 50_000 * SECOND)
    await historian.write(writeBatch([{ tag: 'LONG', points }], true), context)
  })
  for (const tag of TAGS) {
    await historian.write(writeBatch([{ tag, points: columns(SECONDS, START) }], true), context)
  }
}

async function measureReads(historian: ClickhouseHistorian, meter: QueryMeter): Promise<void> {
  await record(meter, 'find-tags/100-tags', TAGS.length, 60, async () => {
    const found = await historian.findTags(TAGS, context)
    expect(
      found.every((tag) => tag !== null),
      'all tags are there',
    )
  })
  await record(meter, 'current/100-tags', TAGS.length, 60, async () => {
    const queries = TAGS.map((tag) => ({ tag, find: 'before-or-at', at: NOW }) as const)
    const points = await historian.readPoints(queries, context)
    expect(
      points.times.every((time) => time === START + (SECONDS - 1) * SECOND),
      'the last points came',
    )
  })
  await record(meter, 'current/1-tag', 1, 60, async () => {
    const points = await historian.readPoints([{ tag: 'T7', find: 'before-or-at', at: NOW }], context)
    expect(points.times[0] === START + (SECONDS - 1) * SECOND, 'the last point came')
  })
  await record(meter, 'raw/100000-points-of-2000000', 100_000, 20, async () => {
    const to = instantFromUs(START + LONG * SECOND)
    const query = { tag: 'LONG', from: instantFromUs(START), to, order: 'asc', limit: 100_000 } as const
    const [range] = await historian.readRanges([query], context)
    expect(range!.points.times.length === 100_000 && range!.more, 'all points came')
  })
  await record(meter, 'raw/100-tags-x-1000', 100_000, 20, async () => {
    const ranges = await historian.readRanges(
      TAGS.map((tag) => ({
        tag,
        from: instantFromUs(START + 5_000 * SECOND),
        to: instantFromUs(START + 6_000 * SECOND),
        order: 'asc' as const,
        limit: 1_000,
      })),
      context,
    )
    expect(
      ranges.every(({ points }) => points.times.length === 1_000),
      'all points came',
    )
  })
  const shape = { stepped: false, holdUntil: NOW }
  const [from, to] = [instantFromUs(START + 500_000), (START + (SECONDS - 1) * SECOND) as Instant]
  const times = evenGrid(from, to, 1_000)
  await record(meter, 'interpolated/100-tags-x-1000', TAGS.length * 1_000, 10, async () => {
    const values = await historian.readInterpolated(
      TAGS.map((tag) => ({ tag, times, ...shape })),
      context,
    )
    expect(
      values.every((column) => !column.some(Number.isNaN)),
      'all values came',
    )
  })
  for (const [title, aggregates] of [
    ['aggregates', ['min', 'max', 'avg', 'variance', 'first', 'last', 'sum', 'count']],
    ['aggregates-and-time-average', ['avg', 'max', 'timeAvg']],
  ] as const) {
    const edges = evenEdges(from, to, 24)
    await record(meter, `${title}/100-tags-x-24-windows`, TAGS.length * SECONDS, 10, async () => {
      const windows = await historian.readAggregates(
        TAGS.map((tag) => ({ tag, edges, aggregates, ...shape })),
        context,
      )
      expect(
        windows.every(({ avg }) => avg!.length === 24 && !avg!.some(Number.isNaN)),
        'all windows came',
      )
    })
    const end = START + LONG * SECOND
    const long = Float64Array.of(START, end)
    await record(meter, `${title}/2000000-points-in-1-window`, LONG, 10, async () => {
      const query = { tag: 'LONG', edges: long, aggregates, stepped: false, holdUntil: instantFromUs(end) }
      const [windows] = await historian.readAggregates([query], context)
      expect(Number.isFinite(windows!.avg![0]!), 'the window came')
    })
  }
}

/** Whole calls: what a historian does not work out by itself the engine reads points for. */
async function measureQuestions(historian: ClickhouseHistorian, meter: QueryMeter): Promise<void> {
  const call = {
    historians: new HistorianRegistry([historian]),
    limits: { ...defaultsOf(CALL_LIMITS), historianLoad: 10_000_000 },
    ...{ defaultZone: UTC, defaultHistorian: null, now: NOW, signal: context.signal },
  }
  const details = { from: START / 1_000, to: NOW / 1_000 }
  const durations = { ...details, count: 24, aggregates: ['DURATIONNONZERO', 'COVERAGE', 'NUMTRANSITIONS'] }
  for (const [title, type, own] of [
    ['run-hours', 'MULTIPLE_AGGREGATED_POINTS', durations],
    ['run-hours-with-max-gap', 'MULTIPLE_AGGREGATED_POINTS', { ...durations, maxGap: '1min' }],
    ['intervals', 'INTERVALS', { ...details, maxIntervals: 100 }],
  ] as const) {
    const requests = Object.fromEntries(TAGS.map((tag) => [tag, { type, tag: `bench/${tag}`, details: own }]))
    await record(meter, `${title}/100-tags-x-20000-points`, TAGS.length * SECONDS, 10, async () => {
      const answer = await runMulti({ now: NOW / 1_000, requests }, call)
      expect(answer.outcome === 'executed' && answer.invalidLabels === 0, 'every label is answered')
    })
  }
}
