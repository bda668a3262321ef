import { influxdb } from '../../src/drivers/influxdb/definition.ts'
import { InfluxHistorian } from '../../src/drivers/influxdb/driver.ts'
import { QueryMeter } from '../../src/historian/remote/meter.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { evenEdges, evenGrid } from '../../src/time/grid.ts'
import { instantFromUs } from '../../src/time/instant.ts'
import { foundInflux, InfluxServer } from '../../test/servers/influxdb.ts'
import { endAll } from '../../test/servers/required.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'

/*
 * An InfluxDB 1.6 on this machine, asked through the driver contract; the note says how many requests a call is, and
 * how many statements stand in them. What is read is in files: InfluxDB writes them out of its memory before.
 */
const TAGS = Array.from({ length: 100 }, (_, tag) => `T${tag}`)
const SECONDS = 20_000
const LONG = 100_000
const START = Date.UTC(2026, 0, 1) * 1_000
const NOW = instantFromUs(START + LONG * 1_000_000)
const context = { signal: new AbortController().signal }
const random = seededRandom(1)
const results: Measurement[] = []

if (foundInflux.skip) process.stderr.write(`  ${foundInflux.skip}\n`)
else await run()
process.stdout.write(JSON.stringify(results))

async function run(): Promise<void> {
  const server = await InfluxServer.start(['bench'])
  const meter = new QueryMeter()
  const log = { info() {}, warn() {}, error() {} }
  const config = influxdb.configSchema.parse({ url: server.url, database: 'bench', writable: true })
  const historian = await influxdb.open(config, { name: 'plant', directory: '', log, meter })
  if (!(historian instanceof InfluxHistorian)) throw new Error('the driver opens another historian')

  async function load(): Promise<void> {
    for (const tag of TAGS) {
      await historian.write(writeBatch([{ tag, points: columns(SECONDS, START) }], true), context)
    }
    await historian.write(writeBatch([{ tag: 'LONG', points: columns(LONG, START) }], true), context)
    await server.settle('bench')
  }

  /** Measures a task and notes what one run of it sends. */
  async function record(name: string, items: number, runs: number, task: (run: number) => Promise<void>) {
    await task(0)
    meter.reset()
    const before = (historian as InfluxHistorian).client.statementsSent
    await task(1)
    const requests = meter.total()
    const statements = (historian as InfluxHistorian).client.statementsSent - before
    const note = `${requests} request${requests === 1 ? '' : 's'}, ${statements} statement${statements === 1 ? '' : 's'}`
    const warmUps = Math.ceil(runs / 4)
    results.push(
      await measure(`drivers/influxdb/${name}`, (n) => task(n + 2), { warmUps, runs, items, note }),
    )
  }

  async function measureReads(): Promise<void> {
    for (const tags of [TAGS, TAGS.slice(0, 1)]) {
      await record(`current/${tags.length}-tag${tags.length > 1 ? 's' : ''}`, tags.length, 50, async () => {
        const queries = tags.map((tag) => ({ tag, find: 'before-or-at', at: NOW }) as const)
        const { times } = await historian.readPoints(queries, context)
        const last = START + (SECONDS - 1) * 1_000_000
        expect(
          times.every((time) => time === last),
          'the last points came',
        )
      })
    }
    await record('raw/100000-points', LONG, 10, async () => {
      const query = { tag: 'LONG', from: instantFromUs(START), to: NOW, order: 'asc', limit: LONG } as const
      const [range] = await historian.readRanges([query], context)
      expect(range!.points.times.length === LONG && !range!.more, 'all points came')
    })
    const [from, to] = [instantFromUs(START + 500_000), instantFromUs(START + (SECONDS - 1) * 1_000_000)]
    const times = evenGrid(from, to, 1_000)
    for (const tags of [1, 10]) {
      await record(
        `boundingValues/${tags}-tag${tags > 1 ? 's' : ''}-1000-times`,
        tags * 1_000,
        4,
        async () => {
          const found = await historian.readBoundingValues(TAGS.slice(0, tags), times, context)
          expect(
            found.every(({ beforeTimes }) => !beforeTimes.some(Number.isNaN)),
            'all boundingValues came',
          )
        },
      )
    }
    const edges = evenEdges(instantFromUs(START), instantFromUs(START + SECONDS * 1_000_000), 34)
    for (const aggregates of [['avg'], ['avg', 'min', 'max'], ['count']] as const) {
      await record(`${aggregates.join('-')}/20000-points-34-windows`, SECONDS, 20, async () => {
        const query = { tag: 'T1', edges, aggregates, stepped: false, holdUntil: NOW }
        const [windows] = await historian.readAggregates!([query], context)
        const isFull = aggregates.every((name) => !windows![name]!.some(Number.isNaN))
        expect(isFull && windows![aggregates[0]]!.length === 34, 'all windows came')
      })
    }
    await record('find/100-tags', TAGS.length, 50, async () => {
      const found = await historian.findTags(TAGS, context)
      expect(!found.includes(null), 'all tags were found')
    })
  }

  async function measureWrites(): Promise<void> {
    for (const [tags, points, runs] of [
      [1, 1, 100],
      [1_000, 10, 10],
      [10_000, 1, 10],
    ] as const) {
      await record(
        `write/${tags}-tag${tags > 1 ? 's' : ''}-x-${points}`,
        tags * points,
        runs,
        async (round) => {
          const entries = Array.from({ length: tags }, (_, tag) => ({
            tag: `W${tags}-${tag}`,
            points: columns(points, START + round * points * 1_000_000),
          }))
          await historian.write(writeBatch(entries, true), context)
        },
      )
    }
  }

  try {
    await load()
    await measureReads()
    await measureWrites()
  } finally {
    await historian.close()
    await server.stop()
    endAll()
  }
}

/** A random walk, a point a second. */
function columns(count: number, from: number): PointColumns {
  const points = makeColumns(count)
  let value = 50
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i * 1_000_000
    value += random() - 0.5
    points.values[i] = value
  }
  return points
}
