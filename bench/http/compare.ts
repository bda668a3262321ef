import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, quantile, seededRandom } from '../measure.ts'
import { processorMs, type Service } from '../service.ts'
import { AGGREGATES } from './aggregates.ts'

/**
 * Two checkouts beside each other: `node bench/http/compare.ts OLD NEW [ROW...]`, each with its own node_modules. Both
 * services run at once and answer the same calls in alternating batches, so that other load on the machine meets both
 * alike. Prints the processor time of the service (user and system, all threads) and the median duration for each call
 * of each run, as JSON, and the ratio of the medians of the runs so far on standard error. `COMPARE_RUNS` (5) pairs of
 * services are started, one after the other.
 */
const TAGS = 100
const SECONDS = 20_000
const START_MS = Date.UTC(2026, 0, 1)
const RAW_POINTS = 100_000
/** A year at 1 Hz, written a day a request where rows of it are compared. */
const YEAR_DAYS = 365
const YEAR_START_MS = Date.UTC(2025, 0, 1)
const DAY_MS = 86_400_000
const YEAR_END_MS = YEAR_START_MS + YEAR_DAYS * DAY_MS
const RUNS = Number(process.env.COMPARE_RUNS ?? 5)
/** Turns of each service within a run. */
const BATCHES = 4
/** A service is quiet when it hardly uses the processor in so many looks of so long, of at most so many. */
const QUIET_LOOKS = 3
const MOST_LOOKS = 10
const QUIET_MS = 150
const QUIET_PROCESSOR_MS = 10

/** One kind of call; `calls` of them are a batch, which takes both services tenths of a second. */
interface Row {
  readonly name: string
  readonly path: string
  readonly calls: number
  /** Calls before the first that counts. */
  readonly warmUps: number
  /** The body of the call of that number, counted in the whole run. */
  readonly body: (call: number) => string
}

interface Figures {
  /** For each call, in milliseconds, by run. */
  readonly processor: number[]
  readonly median: number[]
}

const READ = '/historian/multi'
const WRITE = '/historian/write/points'
const random = seededRandom(1)
const [oldRoot, newRoot, ...wanted] = process.argv.slice(2)
expect(oldRoot !== undefined && newRoot !== undefined, 'two checkouts are named')
const rows = [...readRows(), ...writeRows()].filter(
  ({ name }) => wanted.length === 0 || wanted.some((text) => name.includes(text)),
)
const sides = { old: oldRoot, new: newRoot } as const
type Side = keyof typeof sides
const results = new Map<string, Record<Side, Figures>>(
  rows.map(({ name }) => [name, { old: { processor: [], median: [] }, new: { processor: [], median: [] } }]),
)
for (let run = 0; run < RUNS; run++) {
  await compareOnce(run % 2 === 0 ? ['old', 'new'] : ['new', 'old'])
  process.stderr.write(`run ${run + 1} of ${RUNS}\n`)
  printRatios()
}
process.stdout.write(`${JSON.stringify(Object.fromEntries(results), null, 1)}\n`)

/** Of the runs so far: a comparison that somebody ends early has told what it measured. */
function printRatios(): void {
  for (const [name, figures] of results) {
    const ratio = (of: keyof Figures) => (middle(figures.new[of]) / middle(figures.old[of])).toFixed(3)
    const times = (['old', 'new'] as const).map((side) => middle(figures[side].processor).toFixed(3))
    process.stderr.write(
      `${name.padEnd(36)} processor ${times.join(' ')} ms, ${ratio('processor')}; duration ${ratio('median')}\n`,
    )
  }
}

async function compareOnce(order: readonly Side[]): Promise<void> {
  const services = {} as Record<Side, Service>
  try {
    for (const side of order) {
      const { startService } = await import(join(sides[side], 'bench', 'service.ts'))
      services[side] = await startService()
    }
    for (const side of order) await load(services[side])
    for (const row of rows) await compareRow(row, services, order)
  } finally {
    for (const service of Object.values(services)) await service.stop()
  }
}

async function compareRow(row: Row, services: Record<Side, Service>, order: readonly Side[]): Promise<void> {
  let call = 0
  for (const side of order) await untilQuiet(services[side])
  const figures = {
    old: { processor: 0, times: [] as number[] },
    new: { processor: 0, times: [] as number[] },
  }
  for (let batch = -1; batch < BATCHES; batch++) {
    const calls = batch < 0 ? row.warmUps : row.calls
    const bodies = Array.from({ length: calls }, () => row.body(call++))
    for (const side of batch % 2 === 0 ? order : order.toReversed()) {
      const service = services[side]
      const before = processorMs(service.pid)
      const times = await timesOf(service, row.path, bodies)
      if (row.path === WRITE) await untilQuiet(service)
      if (batch < 0) continue
      figures[side].processor += processorMs(service.pid) - before
      figures[side].times.push(...times)
    }
  }
  for (const side of order) {
    const { processor, times } = figures[side]
    const of = results.get(row.name)![side]
    of.processor.push(rounded(processor / times.length))
    of.median.push(rounded(middle(times)))
  }
}

/** Until what was written is flushed and merged, as far as that begins at once. */
async function untilQuiet({ pid }: Service): Promise<void> {
  for (let quiet = 0, looks = 0; quiet < QUIET_LOOKS && looks < MOST_LOOKS; looks++) {
    const before = processorMs(pid)
    await sleep(QUIET_MS)
    quiet = processorMs(pid) - before > QUIET_PROCESSOR_MS ? 0 : quiet + 1
  }
}

async function timesOf(service: Service, path: string, bodies: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const body of bodies) {
    const start = performance.now()
    await service.post(path, body)
    times.push(performance.now() - start)
  }
  return times
}

function readRows(): Row[] {
  const read = (name: string, calls: number, warmUps: number, requests: object, more: object = {}): Row => {
    const text = JSON.stringify({ requests, ...more })
    return { name, path: READ, calls, warmUps, body: () => text }
  }
  const each = (type: string, details: object) =>
    Object.fromEntries(
      Array.from({ length: TAGS }, (_, tag) => [`c${tag}`, { type, tag: `local/T${tag}`, details }]),
    )
  const long = { from: START_MS, to: START_MS + RAW_POINTS * 1000, maxPoints: RAW_POINTS }
  const raw = { a: { type: 'RAW_POINTS', tag: 'local/LONG', details: long } }
  const grid = { from: START_MS + 500, to: START_MS + (SECONDS - 1) * 1000, count: 1000 }
  const windows = {
    from: START_MS,
    to: START_MS + SECONDS * 1000,
    interval: '10m',
    aggregates: ['AVG', 'MIN', 'MAX', 'TIMEAVG'],
  }
  const one = { a: { type: 'CURRENT_POINT', tag: 'local/T1', details: {} } }
  const aggregated = { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'local/T1', details: windows } }
  const ofYear = (windows: number) => ({
    a: {
      type: 'MULTIPLE_AGGREGATED_POINTS',
      tag: 'local/YEAR',
      details: { from: YEAR_START_MS, to: YEAR_END_MS, count: windows, aggregates: AGGREGATES },
    },
  })
  const total = {
    type: 'HISTORICAL_POINT',
    tag: 'calc/TOTALISE(local/YEAR, YEAR, BEGIN_YEAR, 1h)',
    details: { at: YEAR_END_MS - 1000 },
  }
  return [
    read('current/100-tags', 700, 3000, each('CURRENT_POINT', {})),
    read('current/1-tag', 2000, 3000, one),
    read('raw/100000-points', 12, 20, raw),
    read('raw-columns/100000-points', 20, 20, raw, { format: 'columns' }),
    read('interpolated/100-tags-1000-points', 5, 10, each('INTERPOLATED_POINTS', grid)),
    read('aggregates/20000-points-34-windows', 200, 3000, aggregated),
    read('year/1-window', 200, 1000, ofYear(1)),
    read('year/365-windows', 50, 200, ofYear(YEAR_DAYS)),
    read('year/totalise', 500, 3000, { a: total }),
  ]
}

function writeRows(): Row[] {
  const write = (
    name: string,
    calls: number,
    warmUps: number,
    prefix: string,
    tags: number,
    points: number,
  ): Row => ({
    name,
    path: WRITE,
    calls,
    warmUps,
    body: (call) => {
      const start = START_MS + call * points * 1000
      return writeBody(
        Object.fromEntries(
          Array.from({ length: tags }, (_, tag) => [`local/${prefix}${tag}`, pointRows(points, start)]),
        ),
      )
    },
  })
  return [
    // Five million points: what happens once for each million of them counts with its share.
    write('write/1-tag-50000-points', 25, 20, 'BULK', 1, 50_000),
    write('write/1000-tags-10-points', 10, 10, 'A', 1000, 10),
    write('write/10000-tags-1-point', 7, 7, 'B', 10_000, 1),
    write('write/100-tags-1-point', 300, 1500, 'C', 100, 1),
    write('write/1-tag-1-point', 400, 1500, 'D', 1, 1),
  ]
}

async function load(service: Service): Promise<void> {
  const write = (points: object) => service.post(WRITE, writeBody(points))
  for (let tag = 0; tag < TAGS; tag++) await write({ [`local/T${tag}`]: columns(SECONDS, START_MS) })
  const page = RAW_POINTS / 4
  for (let i = 0; i < 4; i++) await write({ 'local/LONG': columns(page, START_MS + i * page * 1000) })
  if (!rows.some(({ name }) => name.startsWith('year/'))) return
  for (let day = 0; day < YEAR_DAYS; day++) {
    await write({ 'local/YEAR': columns(DAY_MS / 1000, YEAR_START_MS + day * DAY_MS) })
  }
}

function writeBody(points: object): string {
  return JSON.stringify({ points, createTags: true })
}

/** A point a second. */
function pointRows(count: number, startMs: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    timestamp: new Date(startMs + i * 1000).toISOString(),
    value: value(),
  }))
}

function columns(count: number, startMs: number): object {
  return {
    unit: 'ms',
    timestamps: Array.from({ length: count }, (_, i) => startMs + i * 1000),
    values: Array.from({ length: count }, value),
  }
}

function value(): number {
  return Math.round(random() * 100_000) / 1000
}

function middle(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  )
}

function rounded(ms: number): number {
  return Number(ms.toFixed(4))
}
