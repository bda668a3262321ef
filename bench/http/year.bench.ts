import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { startService } from '../service.ts'
import { AGGREGATES } from './aggregates.ts'

/**
 * Long reads of tags with a year at 1 Hz, over HTTP, written a day a request: a random walk, and a pump that runs while
 * the walk is above a limit, for long enough that it does not start anew at each swing.
 */
const DAYS = 365
const SECONDS_A_DAY = 86_400
const START_MS = Date.UTC(2025, 0, 1)
const END_MS = START_MS + DAYS * SECONDS_A_DAY * 1000
const POINTS = DAYS * SECONDS_A_DAY
/** What was written last is flushed when nothing more comes. */
const REST_MS = 5_000
/** Calls of each case that are not measured, and that are. */
const WARM_UPS = Number(process.env.BENCH_WARM_UPS ?? 100)
const RUNS = Number(process.env.BENCH_RUNS ?? 200)
const LIMIT = 60
/** The pump starts above the limit, and stops so far below it. */
const HYSTERESIS = 2

const results: Measurement[] = []
let yearsMean = Number.NaN
/** What was written comes to: the walk's integral in hours, the hours above the limit, and the seconds the pump ran. */
const written = { integral: 0, hoursAbove: 0, runSeconds: 0 }

const service = await startService()
try {
  await load()
  for (const windows of [1, DAYS]) await measureWindows(windows)
  await measureTotal()
  await measureDays('total', 'local/YEAR', { per: '1h' }, written.integral)
  await measureDays('durationNonZero', 'local/PUMP', {}, written.runSeconds)
  await measureRunHours()
} finally {
  await service.stop()
}
process.stdout.write(JSON.stringify(results))

async function load(): Promise<void> {
  const random = seededRandom(1)
  let level = 50
  let last = Number.NaN
  let isRunning = false
  await service.post(
    '/historian/metadata/create',
    JSON.stringify({ entries: { 'local/PUMP': { stepped: true } } }),
  )
  for (let day = 0; day < DAYS; day++) {
    const start = START_MS + day * SECONDS_A_DAY * 1000
    const timestamps = Array.from({ length: SECONDS_A_DAY }, (_, second) => start + second * 1000)
    const values = timestamps.map(() => {
      level += (random() - 0.5) * 0.04
      return Math.round((level + (random() - 0.5) * 0.02) * 1000) / 1000
    })
    const runs = values.map((value) => {
      isRunning = value >= LIMIT || (isRunning && value >= LIMIT - HYSTERESIS)
      addSecond(last, value, isRunning)
      last = value
      return Number(isRunning)
    })
    const points = {
      'local/YEAR': { unit: 'ms', timestamps, values },
      'local/PUMP': { unit: 'ms', timestamps, values: runs },
    }
    const answer = await service.post('/historian/write/points', JSON.stringify({ points, createTags: true }))
    expect(answer.includes('All points written!'), 'the points were written')
  }
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
}

/** The line from one value to the next a second later, and the second in which the pump runs from there. */
function addSecond(from: number, to: number, isRunning: boolean): void {
  if (isRunning) written.runSeconds++
  if (Number.isNaN(from)) return
  written.integral += (from + to) / 2 / 3600
  const [least, greatest] = [Math.min(from, to), Math.max(from, to)]
  if (greatest < LIMIT) return
  written.hoursAbove += (least >= LIMIT ? 1 : (greatest - LIMIT) / (greatest - least)) / 3600
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

/** Of each day: they add up to what was written. */
async function measureDays(aggregate: string, tag: string, options: object, expected: number): Promise<void> {
  const details = { from: START_MS, to: END_MS, interval: '1d', aggregates: [aggregate], ...options }
  const request = { type: 'MULTIPLE_AGGREGATED_POINTS', tag, details }
  await add(`http/year/${aggregate}-per-day`, request, ({ aggregates }) => {
    const sum = aggregates.reduce((all: number, day: Record<string, number>) => all + day[aggregate]!, 0)
    // The last value holds for a second more.
    return aggregates.length === DAYS && Math.abs(sum / expected - 1) < 1e-6 ? POINTS : 0
  })
}

async function measureRunHours(): Promise<void> {
  const tag = `calc/TOTALISE(calc/THRESHOLD(local/YEAR, ${LIMIT}, 1, 0), YEAR, BEGIN_YEAR, 1h)`
  const request = { type: 'HISTORICAL_POINT', tag, details: { at: END_MS - 1000 } }
  await add('http/year/run-hours-by-threshold', request, ({ dataPoint }) =>
    Math.abs(dataPoint.value - written.hoursAbove) < 1e-3 ? POINTS : 0,
  )
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
  results.push(await measure(name, task, { warmUps: WARM_UPS, runs: RUNS, items: POINTS }))
}
