import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { startService } from '../service.ts'

/** Long reads of a tag with a year at 1 Hz, over HTTP: a random walk, written a day a request. */
const DAYS = 365
const SECONDS_A_DAY = 86_400
const START_MS = Date.UTC(2025, 0, 1)
const END_MS = START_MS + DAYS * SECONDS_A_DAY * 1000
const POINTS = DAYS * SECONDS_A_DAY
/** What was written last is folded when nothing more comes. */
const REST_MS = 5_000
/** All that summaries answer. */
const AGGREGATES = [
  'AVG',
  'COUNT',
  'FIRST',
  'LAST',
  'MAX',
  'MIN',
  'NUMBAD',
  'NUMGOOD',
  'RANGE',
  'STDDEV',
  'SUM',
  'TIMEAVG',
  'VAR',
]
const results: Measurement[] = []
let yearsMean = Number.NaN

const service = await startService()
try {
  await load()
  for (const windows of [1, DAYS]) await measureWindows(windows)
  await measureTotal()
} finally {
  await service.stop()
}
process.stdout.write(JSON.stringify(results))

async function load(): Promise<void> {
  const random = seededRandom(1)
  let level = 50
  for (let day = 0; day < DAYS; day++) {
    const start = START_MS + day * SECONDS_A_DAY * 1000
    const timestamps = Array.from({ length: SECONDS_A_DAY }, (_, second) => start + second * 1000)
    const values = timestamps.map(() => {
      level += (random() - 0.5) * 0.04
      return Math.round((level + (random() - 0.5) * 0.02) * 1000) / 1000
    })
    const points = { 'local/YEAR': { unit: 'ms', timestamps, values } }
    const answer = await service.post('/historian/write/points', JSON.stringify({ points, createTags: true }))
    expect(answer.includes('All points written!'), 'the points were written')
  }
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
}

async function measureWindows(count: number): Promise<void> {
  const details = { from: START_MS, to: END_MS, count, aggregates: AGGREGATES }
  const request = { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'local/YEAR', details }
  await add(`http/year/all-aggregates-but-median-in-${count}-windows`, request, ({ aggregates }) => {
    if (count === 1) yearsMean = aggregates[0].timeAvg
    return aggregates.reduce((sum: number, window: { count: number }) => sum + window.count, 0)
  })
}

/** Of the whole year: the sum over the hours is the mean times as many hours. */
async function measureTotal(): Promise<void> {
  const tag = 'calc/TOTALISE(local/YEAR, YEAR, BEGIN_YEAR, 1h)'
  const request = { type: 'HISTORICAL_POINT', tag, details: { at: END_MS - 1000 } }
  await add('http/year/totalise', request, ({ dataPoint }) => {
    const hours = (POINTS - 1) / 3600
    return Math.abs(dataPoint.value / hours - yearsMean) < 1e-3 ? POINTS : 0
  })
}

async function add(
  name: string,
  request: object,
  pointsOf: (result: ReturnType<typeof JSON.parse>) => number,
): Promise<void> {
  const body = JSON.stringify({ requests: { a: request } })
  const task = async () => {
    const { results, errors } = JSON.parse((await service.post('/historian/multi', body)).toString())
    expect(Object.keys(errors).length === 0, JSON.stringify(errors))
    expect(pointsOf(results.a) === POINTS, 'all points are in it')
  }
  results.push(await measure(name, task, { warmUps: 100, runs: 200, items: POINTS }))
}
