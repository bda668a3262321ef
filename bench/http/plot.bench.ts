import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { startService } from '../service.ts'

/**
 * Charts of 2,000 columns of tags at 1 Hz, a random walk each, and intervals by a threshold, over HTTP. BENCH_DAYS and
 * BENCH_TAGS make it smaller: eight tags with a year take some minutes to write.
 */
const DAYS = Number(process.env.BENCH_DAYS ?? 365)
const TAGS = Number(process.env.BENCH_TAGS ?? 8)
const SECONDS_A_DAY = 86_400
const START_MS = Date.UTC(2025, 0, 1)
const END_MS = START_MS + DAYS * SECONDS_A_DAY * 1000
const WIDTH = 2_000
/** Intervals of the wave in a day; each begins and ends with a crossing. */
const INTERVALS = 500
/** What was written last is flushed when nothing more comes. */
const REST_MS = 5_000

const results: Measurement[] = []
const service = await startService()
try {
  await load()
  const dayEnd = START_MS + SECONDS_A_DAY * 1000
  for (const tags of new Set([1, TAGS])) {
    await measurePlot(`day/${tags}-tags`, tags, dayEnd)
    await measurePlot(`${DAYS === 365 ? 'year' : `${DAYS}-days`}/${tags}-tags`, tags, END_MS)
  }
  await measureIntervals(dayEnd)
} finally {
  await service.stop()
}
process.stdout.write(JSON.stringify(results))

async function load(): Promise<void> {
  const random = seededRandom(1)
  const levels = new Float64Array(TAGS).fill(50)
  for (let day = 0; day < DAYS; day++) {
    const start = START_MS + day * SECONDS_A_DAY * 1000
    const timestamps = Array.from({ length: SECONDS_A_DAY }, (_, second) => start + second * 1000)
    for (let tag = 0; tag < TAGS; tag++) {
      const values = timestamps.map(() => {
        levels[tag]! += (random() - 0.5) * 0.04
        return Math.round((levels[tag]! + (random() - 0.5) * 0.02) * 1000) / 1000
      })
      await write(`local/YEAR${tag}`, timestamps, values)
    }
    if (day > 0) continue
    const phase = (2 * Math.PI * INTERVALS) / SECONDS_A_DAY
    await write(
      'local/WAVE',
      timestamps,
      timestamps.map((_, second) => Math.sin(phase * (second - 0.5))),
    )
  }
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
}

async function write(tag: string, timestamps: readonly number[], values: readonly number[]): Promise<void> {
  const points = { [tag]: { unit: 'ms', timestamps, values } }
  const answer = await service.post('/historian/write/points', JSON.stringify({ points, createTags: true }))
  expect(answer.includes('All points written!'), 'the points were written')
}

async function measurePlot(name: string, tags: number, to: number): Promise<void> {
  const details = { from: START_MS, to, width: WIDTH }
  const requests = Object.fromEntries(
    Array.from({ length: tags }, (_, tag) => [`${tag}`, { type: 'PLOT', tag: `local/YEAR${tag}`, details }]),
  )
  const items = (tags * (to - START_MS)) / 1000
  await add(`http/plot/${name}`, requests, items, (results) => {
    for (const { dataPoints, sampled } of Object.values(results) as {
      dataPoints: { values: unknown[] }
      sampled: boolean
    }[]) {
      expect(sampled, 'points were left out')
      expect(dataPoints.values.length > 3 * WIDTH, 'most columns have four points')
    }
  })
}

async function measureIntervals(to: number): Promise<void> {
  const tag = 'calc/THRESHOLD(local/WAVE, 0, 1, 0)'
  const requests = { a: { type: 'INTERVALS', tag, details: { from: START_MS, to } } }
  await add(`http/intervals/${2 * INTERVALS}-crossings`, requests, SECONDS_A_DAY, ({ a }) => {
    expect(Math.abs(a.intervals.from.length - INTERVALS) <= 1, 'all intervals are there')
  })
}

async function add(
  name: string,
  requests: object,
  items: number,
  check: (results: ReturnType<typeof JSON.parse>) => void,
): Promise<void> {
  const body = JSON.stringify({ format: 'columns', requests })
  const task = async () => {
    const { results, errors } = JSON.parse((await service.post('/historian/multi', body)).toString())
    expect(Object.keys(errors).length === 0, JSON.stringify(errors))
    check(results)
  }
  results.push(await measure(name, task, { warmUps: 10, runs: 40, items }))
}
