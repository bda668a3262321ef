import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { startBareServer, startService } from '../service.ts'

/** The calls that clients make most, over HTTP, seen by the client: see docs/performance.md. */
const TAGS = 100
const SECONDS = 20_000
const START_MS = Date.UTC(2026, 0, 1)
const RAW_POINTS = 100_000
/** A service is compiled to its end after some thousand small calls, a second or two of a busy one. */
const SMALL_WARM_UPS = 3000
const random = seededRandom(1)
const results: Measurement[] = []

const service = await startService()
try {
  await load()
  await measureReads()
  await measureWrites()
} finally {
  await service.stop()
}
process.stdout.write(JSON.stringify(results))

async function load(): Promise<void> {
  for (let tag = 0; tag < TAGS; tag++) {
    await write({ [`local/T${tag}`]: columns(SECONDS, START_MS, 1000) })
  }
  for (let page = 0; page < 4; page++) {
    await write({ 'local/LONG': columns(RAW_POINTS / 4, START_MS + page * (RAW_POINTS / 4) * 1000, 1000) })
  }
}

async function measureReads(): Promise<void> {
  const current = Object.fromEntries(
    Array.from({ length: TAGS }, (_, tag) => [
      `c${tag}`,
      { type: 'CURRENT_POINT', tag: `local/T${tag}`, details: {} },
    ]),
  )
  results.push(
    await measure(
      'http/current/100-tags',
      () => multi(current, (answer) => answer.results.c99.dataPoint.status === 'OK'),
      {
        warmUps: SMALL_WARM_UPS,
        runs: 2000,
        items: TAGS,
      },
    ),
  )
  const one = { a: { type: 'CURRENT_POINT', tag: 'local/T1', details: {} } }
  results.push(
    await measure(
      'http/current/1-tag',
      () => multi(one, (answer) => answer.results.a.dataPoint.status === 'OK'),
      {
        warmUps: SMALL_WARM_UPS,
        runs: 2000,
        items: 1,
      },
    ),
  )

  const details = { from: START_MS, to: START_MS + RAW_POINTS * 1000, maxPoints: RAW_POINTS }
  const raw = { a: { type: 'RAW_POINTS', tag: 'local/LONG', details } }
  const rawBody = JSON.stringify({ requests: raw })
  const answer = JSON.parse((await service.post('/historian/multi', rawBody)).toString())
  expect(answer.results.a.dataPoints.length === RAW_POINTS, 'all raw points came')
  const stringify = await measure('reference/stringify/100000-points', () => JSON.stringify(answer), {
    warmUps: 10,
    runs: 40,
    items: RAW_POINTS,
  })
  // Both servers in turn, so that what else the machine does meets both alike.
  const bare = await startBareServer()
  await bare.post('/', JSON.stringify(answer))
  const options = { warmUps: 10, runs: 40, items: RAW_POINTS }
  const bareHttp = await measure(
    'reference/http-stringify/100000-points',
    () => bare.post('/', '{}'),
    options,
  )
  const overHttp = await measure(
    'http/raw/100000-points',
    () => service.post('/historian/multi', rawBody),
    options,
  )
  await bare.stop()
  const ratio = (reference: Measurement) => (overHttp.medianMs / reference.medianMs).toFixed(2)
  const note = `${ratio(stringify)} x JSON.stringify alone, ${ratio(bareHttp)} x a bare server that sends it`
  results.push(stringify, bareHttp, { ...overHttp, note })
  const rawColumns = JSON.stringify({ requests: raw, format: 'columns' })
  results.push(
    await measure('http/raw-columns/100000-points', () => service.post('/historian/multi', rawColumns), {
      warmUps: 10,
      runs: 40,
      items: RAW_POINTS,
    }),
  )

  const range = { from: START_MS + 500, to: START_MS + (SECONDS - 1) * 1000, count: 1000 }
  const interpolated = Object.fromEntries(
    Array.from({ length: TAGS }, (_, tag) => [
      `i${tag}`,
      { type: 'INTERPOLATED_POINTS', tag: `local/T${tag}`, details: range },
    ]),
  )
  const body = JSON.stringify({ requests: interpolated })
  const interpolatedAnswer = JSON.parse((await service.post('/historian/multi', body)).toString())
  expect(
    interpolatedAnswer.results.i99.dataPoints[999].value !== null,
    'the last interpolated point has a value',
  )
  results.push(
    await measure('http/interpolated/100-tags-1000-points', () => service.post('/historian/multi', body), {
      warmUps: 10,
      runs: 40,
      items: TAGS * 1000,
    }),
  )

  const hourly = {
    from: START_MS,
    to: START_MS + SECONDS * 1000,
    interval: '10m',
    aggregates: ['AVG', 'MIN', 'MAX', 'TIMEAVG'],
  }
  const aggregated = { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'local/T1', details: hourly } }
  results.push(
    await measure(
      'http/aggregates/20000-points-34-windows',
      () => multi(aggregated, (parsed) => parsed.results.a.aggregates.length === 34),
      {
        warmUps: 20,
        runs: 100,
        items: SECONDS,
      },
    ),
  )
}

async function measureWrites(): Promise<void> {
  let batch = 0
  results.push(
    await measure(
      'http/write/1-tag-50000-points',
      () => write({ 'local/BULK': rows(50_000, START_MS + batch++ * 50_000_000, 1000) }),
      {
        warmUps: 5,
        runs: 30,
        items: 50_000,
        note: 'acknowledged and durable',
      },
    ),
    await measure('http/write/1000-tags-10-points', () => writeMany('A', 1000, 10, batch++), {
      warmUps: 5,
      runs: 30,
      items: 10_000,
    }),
    await measure('http/write/10000-tags-1-point', () => writeMany('B', 10_000, 1, batch++), {
      warmUps: 3,
      runs: 20,
      items: 10_000,
    }),
  )
}

async function writeMany(prefix: string, tags: number, points: number, batch: number): Promise<void> {
  const start = START_MS + batch * points * 1000
  await write(
    Object.fromEntries(
      Array.from({ length: tags }, (_, tag) => [`local/${prefix}${tag}`, rows(points, start, 1000)]),
    ),
  )
}

async function multi(
  requests: object,
  holds: (answer: ReturnType<typeof JSON.parse>) => boolean,
): Promise<void> {
  const answer = JSON.parse((await service.post('/historian/multi', JSON.stringify({ requests }))).toString())
  expect(holds(answer), 'the answer is as expected')
}

async function write(points: object): Promise<void> {
  const answer = await service.post('/historian/write/points', JSON.stringify({ points, createTags: true }))
  expect(answer.includes('All points written!'), 'the points were written')
}

function rows(count: number, startMs: number, stepMs: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    timestamp: new Date(startMs + i * stepMs).toISOString(),
    value: value(),
  }))
}

function columns(count: number, startMs: number, stepMs: number): object {
  return {
    unit: 'ms',
    timestamps: Array.from({ length: count }, (_, i) => startMs + i * stepMs),
    values: Array.from({ length: count }, value),
  }
}

function value(): number {
  return Math.round(random() * 100_000) / 1000
}
