import { postgresConfigSchema } from '../../src/drivers/postgres/config.ts'
import { postgres } from '../../src/drivers/postgres/definition.ts'
import { QueryMeter } from '../../src/historian/remote/meter.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { evenEdges, evenGrid } from '../../src/time/grid.ts'
import { instantFromUs } from '../../src/time/instant.ts'
import { found, startPostgres } from '../../test/servers/postgres.ts'
import { endAll } from '../../test/servers/required.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'

/**
 * Tables of Tidemark's own in a PostgreSQL of this machine, asked through the driver contract; the note says how many
 * queries a call is.
 */
const TAGS = Array.from({ length: 100 }, (_, tag) => `T${tag}`)
const SECONDS = 20_000
const LONG = 100_000
const START = Date.UTC(2026, 0, 1) * 1_000
const NOW = instantFromUs(START + LONG * 1_000_000)
const SCHEMA = 'bench'
const context = { signal: new AbortController().signal }
const random = seededRandom(1)
const results: Measurement[] = []

if (found.skip) process.stderr.write(`  ${found.skip}\n`)
else await run()
process.stdout.write(JSON.stringify(results))

async function run(): Promise<void> {
  const server = await startPostgres()
  const meter = new QueryMeter()
  const log = { info() {}, warn() {}, error() {} }
  const historian = await postgres.open(postgresConfigSchema.parse(server.config(SCHEMA)), {
    name: 'plant',
    directory: '',
    log,
    meter,
  })

  async function load(): Promise<void> {
    await historian.write(writeBatch([{ tag: 'T0', points: columns(SECONDS, START) }], true), context)
    await historian.write(
      writeBatch(
        TAGS.map((tag) => ({ tag, points: makeColumns(0) })),
        true,
      ),
      context,
    )
    // The other tags get the same times with other values, without a way through this process.
    await server.sql(`INSERT INTO ${SCHEMA}.points (time, value, tag_id, status)
      SELECT p.time, p.value + t.id, t.id, 0 FROM ${SCHEMA}.tags AS t, ${SCHEMA}.points AS p
      WHERE t.name <> 'T0' ORDER BY t.id, p.time`)
    for (let part = 0; part < 4; part++) {
      const points = columns(LONG / 4, START + part * (LONG / 4) * 1_000_000)
      await historian.write(writeBatch([{ tag: 'LONG', points }], true), context)
    }
    await server.sql('VACUUM ANALYZE')
  }

  /** Measures a task and notes how many queries one run of it sends. */
  async function record(name: string, items: number, runs: number, task: (run: number) => Promise<unknown>) {
    await task(0)
    meter.reset()
    await task(1)
    const queries = meter.total()
    const note = queries === 1 ? '1 query' : `${queries} queries`
    const warmUps = Math.ceil(runs / 4)
    results.push(
      await measure(`drivers/postgres/${name}`, (n) => task(n + 2), { warmUps, runs, items, note }),
    )
  }

  async function measureReads(): Promise<void> {
    for (const tags of [TAGS, TAGS.slice(0, 1)]) {
      await record(`current/${tags.length}-tag${tags.length > 1 ? 's' : ''}`, tags.length, 200, async () => {
        const queries = tags.map((tag) => ({ tag, find: 'before-or-at', at: NOW }) as const)
        const { times } = await historian.readPoints(queries, context)
        expect(
          times.every((time) => time === START + (SECONDS - 1) * 1_000_000),
          'the last points came',
        )
      })
    }
    await record('raw/100000-points', LONG, 20, async () => {
      const query = { tag: 'LONG', from: instantFromUs(START), to: NOW, order: 'asc', limit: LONG } as const
      const [range] = await historian.readRanges([query], context)
      expect(range!.points.times.length === LONG && !range!.more, 'all points came')
    })
    const [from, to] = [instantFromUs(START + 500_000), instantFromUs(START + (SECONDS - 1) * 1_000_000)]
    const times = evenGrid(from, to, 1_000)
    for (const stepped of [false, true]) {
      const title = stepped ? 'stepped' : 'interpolated'
      await record(`${title}/100-tags-1000-points`, TAGS.length * 1_000, 10, async () => {
        const queries = TAGS.map((tag) => ({ tag, times, stepped, holdUntil: NOW }))
        const values = await historian.readInterpolated!(queries, context)
        expect(
          values.every((column) => !column.some(Number.isNaN)),
          'all values came',
        )
      })
    }
    const edges = evenEdges(instantFromUs(START), instantFromUs(START + SECONDS * 1_000_000), 34)
    for (const aggregates of [
      ['avg', 'min', 'max'],
      ['timeAvg'],
      ['avg', 'min', 'max', 'timeAvg'],
      ['minTime', 'maxTime'],
      ['durationNonZero'],
      ['increase', 'numTransitions', 'durationBad'],
    ] as const) {
      await record(`${aggregates.join('-')}/20000-points-34-windows`, SECONDS, 20, async () => {
        const query = { tag: 'T1', edges, aggregates, stepped: false, holdUntil: NOW }
        const [windows] = await historian.readAggregates!([query], context)
        expect(
          aggregates.every((name) => windows![name]!.length === 34 && !windows![name]!.some(Number.isNaN)),
          'all windows came',
        )
      })
    }
    for (const maxGapUs of [undefined, 10_000_000]) {
      const title = maxGapUs === undefined ? 'plot' : 'plot-maxgap'
      await record(`${title}/20000-points-200-columns`, SECONDS, 20, async () => {
        const columns = evenEdges(instantFromUs(START), instantFromUs(START + SECONDS * 1_000_000), 200)
        const query = {
          tag: 'T1',
          edges: columns,
          stepped: false,
          ...(maxGapUs !== undefined && { maxGapUs }),
        }
        const [plot] = await historian.readPlots!([query], context)
        expect(plot!.sampled && plot!.points.times.length >= 400, 'all columns came')
      })
    }
    await record('gaps/20000-points', SECONDS, 20, async () => {
      const range = { from: START, to: START + (SECONDS - 1) * 1_000_000 + 1 }
      const [gaps] = await historian.readGaps!(
        [{ tag: 'T1', ...range, longerThanUs: 2_000_000, limit: 1_000 }],
        context,
      )
      expect(gaps!.from.length === 0 && !gaps!.more, 'there are none')
    })
  }

  async function measureWrites(): Promise<void> {
    const write = (prefix: string, tags: number, points: number, batch: number) =>
      historian.write(
        writeBatch(
          Array.from({ length: tags }, (_, tag) => ({
            tag: `${prefix}${tag}`,
            points: columns(points, START + batch * points * 1_000_000),
          })),
          true,
        ),
        context,
      )
    await record('write/1-tag-50000-points', 50_000, 10, (n) => write('BULK', 1, 50_000, n))
    await record('write/1000-tags-10-points', 10_000, 10, (n) => write('A', 1_000, 10, n))
    await record('write/10000-tags-1-point', 10_000, 10, (n) => write('B', 10_000, 1, n))
  }

  try {
    await load()
    await measureReads()
    await measureWrites()
  } finally {
    await historian.close()
    await server.stop('fast')
    endAll()
  }
}

function columns(count: number, from: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i * 1_000_000
    points.values[i] = Math.round(random() * 100_000) / 1_000
  }
  return points
}
