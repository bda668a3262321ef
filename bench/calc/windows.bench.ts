import { expect, type Measurement, measure } from '../measure.ts'
import { secondsIn, startPlant } from './plant.ts'

/**
 * What windows and totals cost over reading the raw points that they are made of: see docs/performance.md. In process.
 * Reads of a million points raise the limits on requested points and historian load; totals run with the default ones.
 */
const POINTS = 1_000_000
const HOUR = 3600
/** January at 1 Hz. */
const MONTH = 31 * 24 * HOUR
const PERIOD = 100
const PAGE = 100_000
/** The historian packs what was written in threads, whose processor time is not that of reads. */
const REST_MS = 6_000
const RAISED = { requestedPoints: POINTS, historianLoad: 2 * POINTS }

/** Of each hour of a saw from 0 to 99, whose periods go into it without a remainder. */
const OF_AN_HOUR = {
  AVG: 49.5,
  MAX: 99,
  SUM: (HOUR / PERIOD) * 4950,
  VAR: ((HOUR / PERIOD) * 83_325) / (HOUR - 1),
} as const

const results: Measurement[] = []
const plant = await startPlant(secondsIn(MONTH))
try {
  await plant.write('SAW', MONTH, (i) => i % PERIOD)
  await measureWindows()
  await measureTotals()
} finally {
  await plant.stop()
}
process.stdout.write(JSON.stringify(results))

async function measureWindows(): Promise<void> {
  const range = { from: secondsIn(0) / 1000, to: secondsIn(POINTS) / 1000, maxPoints: POINTS }
  const read = (tag: string) => plant.ask({ a: { type: 'RAW_POINTS', tag, details: range } }, RAISED)
  const runs = { warmUps: 1, runs: 5, items: POINTS }
  const raw = await measure(
    'reference/raw/1000000-points',
    async () => expect((await read('plant/SAW')).length > 60 * POINTS, 'all raw points came'),
    runs,
  )
  results.push({ ...raw, note: 'limits on requested points and historian load raised' })
  for (const [op, value] of Object.entries(OF_AN_HOUR)) {
    const tag = `calc/SLIDINGAGG(plant/SAW, ${op}, 1h)`
    const answer = await read(tag)
    checkWindows(answer, value)
    const measured = await measure(
      `calc/slidingagg-${op.toLowerCase()}/1-hour/1000000-points`,
      async () => expect((await read(tag)).length === answer.length, 'the answer is the same'),
      runs,
    )
    results.push(withRatio(measured, raw, 'reading the same raw points, limits raised'))
  }
}

function checkWindows(answer: Buffer, expected: number): void {
  const { dataPoints } = JSON.parse(answer.toString()).results.a
  expect(dataPoints.length === POINTS, 'every raw point has its window')
  for (let i = HOUR; i < POINTS; i++) {
    const { value } = dataPoints[i]
    // An hour that begins within a period has the same mean and sum but for what rounding leaves.
    if (!(Math.abs(value - expected) <= 1e-9 * expected)) expect(false, `${value} at ${i} is ${expected}`)
  }
}

async function measureTotals(): Promise<void> {
  const raw = await measure('reference/raw/month-at-1-hz', readMonth, { warmUps: 1, runs: 5, items: MONTH })
  results.push({ ...raw, note: 'page by page' })
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  const whole = MONTH - PERIOD
  const end = secondsIn(whole) / 1000
  const expected = (49.5 * whole) / HOUR
  for (const name of ['TOTALISE', 'TOTALISERAW']) {
    const tag = `calc/${name}(plant/SAW, MONTH, BEGIN_MONTH, 1h)`
    const limits = name === 'TOTALISE' ? {} : { historianLoad: MONTH + 10 }
    const total = await measure(
      `calc/${name.toLowerCase()}/month-at-1-hz/1-point`,
      async () => {
        const answer = await plant.ask({ a: { type: 'HISTORICAL_POINT', tag, details: { at: end } } }, limits)
        checkTotal(JSON.parse(answer.toString()).results.a.dataPoint.value, expected)
      },
      // A total that the historian works out takes a fraction of a millisecond, once V8 has compiled what it takes.
      {
        ...(name === 'TOTALISE' ? { warmUps: 60_000, runs: 20_000 } : { warmUps: 2, runs: 10 }),
        items: MONTH,
      },
    )
    const note =
      name === 'TOTALISE' ? 'reading the same raw points' : 'reading the same raw points, load limit raised'
    results.push(withRatio(total, raw, note))
  }
  const details = { from: secondsIn(0) / 1000, to: end, count: 1000 }
  const tag = 'calc/TOTALISE(plant/SAW, MONTH, BEGIN_MONTH, 1h)'
  const grid = await measure(
    'calc/totalise/month-at-1-hz/1000-points',
    async () => {
      const answer = await plant.ask({ a: { type: 'INTERPOLATED_POINTS', tag, details } })
      checkTotal(JSON.parse(answer.toString()).results.a.dataPoints[999].value, expected)
    },
    { warmUps: 2, runs: 10, items: 1000 },
  )
  results.push(withRatio(grid, raw, 'reading the same raw points'))
}

async function readMonth(): Promise<void> {
  let read = 0
  let cursor: string | null = null
  do {
    const range = { from: secondsIn(0) / 1000, to: secondsIn(MONTH) / 1000, maxPoints: PAGE }
    const details: object = cursor === null ? range : { ...range, cursor }
    const answer = await plant.ask({ a: { type: 'RAW_POINTS', tag: 'plant/SAW', details } })
    const end = answer.subarray(-2000).toString()
    cursor = /"next":\{"[^"]*":"([^"]+)"/.exec(end)?.[1] ?? null
    read += PAGE
  } while (cursor !== null)
  expect(read >= MONTH && read < MONTH + PAGE, 'the whole month came')
}

function checkTotal(value: number, expected: number): void {
  expect(Math.abs(value / expected - 1) <= 1e-12, `${value} is ${expected}`)
}

function withRatio(measured: Measurement, reference: Measurement, what: string): Measurement {
  return { ...measured, note: `${(measured.medianMs / reference.medianMs).toPrecision(2)} x ${what}` }
}
