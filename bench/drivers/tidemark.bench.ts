import { tidemarkConfigSchema } from '../../src/drivers/tidemark/config.ts'
import { TidemarkHistorian } from '../../src/drivers/tidemark/driver.ts'
import { QueryMeter } from '../../src/historian/remote/meter.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { evenEdges, evenGrid } from '../../src/time/grid.ts'
import { type Instant, instantFromUs } from '../../src/time/instant.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { startService } from '../service.ts'

/** The historian of another instance, asked through the driver contract: what the way over HTTP adds to a local one. */
const TAGS = Array.from({ length: 100 }, (_, tag) => `T${tag}`)
const SECONDS = 20_000
const LONG = 100_000
const START = Date.UTC(2026, 0, 1) * 1_000
const NOW = instantFromUs(START + LONG * 1_000_000)
const context = { signal: new AbortController().signal }
const random = seededRandom(1)
const results: Measurement[] = []

const service = await startService()
process.env.TIDEMARK_BENCH_KEY = service.key
const meter = new QueryMeter()
const plain = await open({ gzip: false, metadataSeconds: 0 })
const zipped = await open({ gzip: true })
try {
  await load()
  await measureReads()
  await measureWrites()
} finally {
  await plain.close()
  await zipped.close()
  await service.stop()
}
process.stdout.write(JSON.stringify(results))

async function open(options: object): Promise<TidemarkHistorian> {
  const config = tidemarkConfigSchema.parse({
    url: `http://127.0.0.1:${service.port}`,
    historian: 'local',
    key: { env: 'TIDEMARK_BENCH_KEY' },
    writable: true,
    ...options,
  })
  const log = { info() {}, warn() {}, error() {} }
  const historian = new TidemarkHistorian(config, { name: 'site', directory: '', log, meter })
  await historian.checkHealth(context)
  return historian
}

async function load(): Promise<void> {
  for (const tag of TAGS)
    await plain.write(writeBatch([{ tag, points: columns(SECONDS, START) }], true), context)
  await plain.write(writeBatch([{ tag: 'LONG', points: columns(LONG, START) }], true), context)
}

function columns(count: number, from: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i * 1_000_000
    points.values[i] = Math.round(random() * 1e6) / 1e4
  }
  return points
}

/** Measures a task and notes how many calls to the other instance one run of it takes. */
async function record(name: string, items: number, runs: number, task: (run: number) => Promise<void>) {
  await task(0)
  meter.reset()
  await task(1)
  const calls = meter.total()
  const note = calls === 1 ? '1 call' : `${calls} calls`
  results.push(
    await measure(`drivers/tidemark/${name}`, task, { warmUps: Math.ceil(runs / 4), runs, items, note }),
  )
}

async function measureReads(): Promise<void> {
  await record('find-tags/100-tags', TAGS.length, 200, async () => {
    const fresh = await plain.findTags(TAGS, context)
    expect(
      fresh.every((tag) => tag !== null),
      'all tags are there',
    )
  })
  await record('current/100-tags', TAGS.length, 200, async () => {
    const queries = TAGS.map((tag) => ({ tag, find: 'before-or-at', at: NOW }) as const)
    const points = await plain.readPoints(queries, context)
    expect(
      points.times.every((time) => time === START + (SECONDS - 1) * 1_000_000),
      'the last points came',
    )
  })
  for (const [title, historian] of [
    ['raw', plain],
    ['raw-gzip', zipped],
  ] as const) {
    await record(`${title}/100000-points`, LONG, 20, async () => {
      const query = { tag: 'LONG', from: instantFromUs(START), to: NOW, order: 'asc', limit: LONG } as const
      const [range] = await historian.readRanges([query], context)
      expect(range!.points.times.length === LONG && !range!.more, 'all points came')
    })
  }
  const shape = { stepped: false, holdUntil: NOW }
  const [from, to] = [instantFromUs(START + 500_000), (START + (SECONDS - 1) * 1_000_000) as Instant]
  const times = evenGrid(from, to, 1_000)
  await record('interpolated/100-tags-1000-points', TAGS.length * 1_000, 20, async () => {
    const values = await plain.readInterpolated(
      TAGS.map((tag) => ({ tag, times, ...shape })),
      context,
    )
    expect(
      values.every((column) => !column.some(Number.isNaN)),
      'all values came',
    )
  })
  const edges = evenEdges(from, to, 24)
  await record('aggregates/100-tags-24-windows', TAGS.length * 24, 20, async () => {
    const queries = TAGS.map(
      (tag) => ({ tag, edges, aggregates: ['avg', 'max', 'timeAvg'], ...shape }) as const,
    )
    const windows = await plain.readAggregates(queries, context)
    expect(
      windows.every(({ avg }) => avg!.length === 24 && !avg!.some(Number.isNaN)),
      'all windows came',
    )
  })
}

async function measureWrites(): Promise<void> {
  await record('write/100-tags-1-point', TAGS.length, 100, async (run) => {
    const at = START + (LONG + run) * 1_000_000
    await plain.write(
      writeBatch(
        TAGS.map((tag) => ({ tag, points: columns(1, at) })),
        false,
      ),
      context,
    )
  })
  await record('write/1-tag-10000-points', 10_000, 20, async (run) => {
    const points = columns(10_000, START + run * 10_000 * 1_000_000)
    await plain.write(writeBatch([{ tag: 'WRITTEN', points }], true), context)
  })
}
