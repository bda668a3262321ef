import { writeBatch } from '../../src/historian/write-batch.ts'
import { STORED_AGGREGATES } from '../../src/storage/reads/signal-reads.ts'
import { instantFromUs } from '../../src/time/instant.ts'
import { expect, type Measurement, measure } from '../measure.ts'
import { atOneHertz, openBenchStore, randomWalk, SECOND, START, signal } from './plant.ts'

// Aggregates and totals over a year at 1 Hz of one tag, read in process; answers are checked against exact sums in
// whole numbers.

const POINTS = Number(process.env.BENCH_POINTS ?? 365 * 86_400)
const DAYS = Math.max(1, Math.floor(POINTS / 86_400))
const BATCH = 50_000

interface Exact {
  count: number
  min: number
  max: number
  first: number
  last: number
  sum: bigint
  squares: bigint
}

const nothing = (): Exact => ({
  count: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  first: 0,
  last: 0,
  sum: 0n,
  squares: 0n,
})

const year = nothing()
const days = Array.from({ length: DAYS }, nothing)
/** Sums within a day are exact in doubles: below 2^53. */
let sum = 0
let squares = 0

const bench = await openBenchStore()
const measurements: Measurement[] = []
const next = randomWalk(1)
const writeStart = performance.now()
let generating = 0
for (let from = 0; from < POINTS; from += BATCH) {
  const generateStart = performance.now()
  const points = atOneHertz(from, Math.min(BATCH, POINTS - from), (index) => {
    const value = next()
    const day = days[Math.floor(index / 86_400)]
    if (day !== undefined) {
      if (day.count === 0) {
        day.first = value
        sum = 0
        squares = 0
      }
      day.count++
      day.min = Math.min(day.min, value)
      day.max = Math.max(day.max, value)
      day.last = value
      sum += value
      squares += value * value
      day.sum = BigInt(sum)
      day.squares = BigInt(squares)
    }
    return value / 1_000
  })
  generating += performance.now() - generateStart
  await bench.store.write(writeBatch([{ tag: 'walk', points }], true), signal)
}
await bench.store.flush()
const writing = performance.now() - writeStart - generating
for (const day of days) {
  if (year.count === 0) year.first = day.first
  year.count += day.count
  year.min = Math.min(year.min, day.min)
  year.max = Math.max(year.max, day.max)
  year.last = day.last
  year.sum += day.sum
  year.squares += day.squares
}
measurements.push({
  name: `storage/backfill/${BATCH}-points-a-request`,
  runs: 1,
  medianMs: writing,
  p99Ms: writing,
  items: POINTS,
  note: `${(bench.fileBytes() / POINTS).toFixed(3)} bytes a point, the whole file`,
})

const close = (found: number, expected: number, what: string) =>
  expect(
    Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${what}: ${found}, ${expected}`,
  )

function checkWindow(name: string, found: Record<string, number>, exact: Exact): void {
  const { count } = exact
  close(found.count!, count, `${name} count`)
  close(found.numGood!, count, `${name} numGood`)
  close(found.numBad!, 0, `${name} numBad`)
  for (const field of ['min', 'max', 'first', 'last'] as const) {
    close(found[field]!, exact[field] / 1_000, `${name} ${field}`)
  }
  close(found.range!, exact.max / 1_000 - exact.min / 1_000, `${name} range`)
  close(found.sum!, Number(exact.sum) / 1_000, `${name} sum`)
  close(found.avg!, Number(exact.sum) / count / 1_000, `${name} avg`)
  const n = BigInt(count)
  const variance = Number((exact.squares * n - exact.sum * exact.sum) / n) / (count - 1) / 1e6
  close(found.variance!, variance, `${name} variance`)
  close(found.stdDev!, Math.sqrt(variance), `${name} stdDev`)
}

async function aggregates(windows: number): Promise<void> {
  const edges = Float64Array.from(
    { length: windows + 1 },
    (_, i) => START + Math.round((i * DAYS) / windows) * 86_400 * SECOND,
  )
  const query = {
    tag: 'walk',
    edges,
    aggregates: STORED_AGGREGATES,
    stepped: false,
    holdUntil: instantFromUs(edges.at(-1)!),
  }
  const read = async () => (await bench.store.readAggregates([query], signal))[0]!
  const found = await read()
  const perWindow = windows === 1 ? [year] : days
  perWindow.forEach((exact, i) => {
    const row = Object.fromEntries(STORED_AGGREGATES.map((name) => [name, found[name]![i]!]))
    checkWindow(`window ${i}`, row, exact)
    if (windows > 1 && i + 1 < perWindow.length) {
      // The trapezoids of a day end at the first point of the next.
      const integral = Number(exact.sum) - exact.first / 2 + days[i + 1]!.first / 2
      close(row.timeAvg!, integral / 1_000 / 86_400, `window ${i} timeAvg`)
    }
  })
  measurements.push(
    await measure(`storage/aggregates/${DAYS}-days/${windows}-windows`, read, {
      warmUps: 20,
      runs: 50,
      items: POINTS,
      note: 'all aggregates but the median',
    }),
  )
}

if (DAYS > 1) await aggregates(DAYS)
await aggregates(1)

const starts = Float64Array.of(START)
const ends = Float64Array.of(START + DAYS * 86_400 * SECOND)
const total = { tag: 'walk', starts, ends, stepped: false, holdUntil: instantFromUs(ends[0]!) }
measurements.push(
  await measure(
    `storage/totals/${DAYS}-days`,
    async () => {
      const [found] = await bench.store.readIntegrals([total], signal)
      const { integrals, coveredUs } = found!
      // From the first point to the last by trapezoids; beyond the last one its value holds for a second.
      const expected = Number(year.sum) / 1_000 + (year.last - year.first) / 2_000
      close(integrals[0]! / SECOND, expected, 'total')
      close(coveredUs[0]!, ends[0]! - starts[0]!, 'covered')
    },
    { warmUps: 20, runs: 50, items: POINTS },
  ),
)
measurements.push(
  await measure(
    `storage/count/${DAYS}-days`,
    async () => {
      const range = { tag: 'walk', from: starts[0]!, to: ends[0]! }
      const [count] = await bench.store.countPoints([range], Number.MAX_SAFE_INTEGER, signal)
      expect(count === year.count, 'count')
    },
    { warmUps: 5, runs: 20, items: POINTS },
  ),
)
measurements.push(
  await measure(
    'storage/raw/100000-points',
    async (run) => {
      const from = START + ((run * 7_919 * 60) % Math.max(1, POINTS - 100_000)) * SECOND
      const range = { tag: 'walk', from, to: from + 1e15, order: 'asc', limit: 100_000 } as const
      const [found] = await bench.store.readRanges([range], signal)
      const { points } = found!
      expect(points.times.length === 100_000 && points.times[99_999] === from + 99_999 * SECOND, 'raw points')
    },
    { warmUps: 20, runs: 50, items: 100_000 },
  ),
)
for (const [name, step] of [
  ['a-minute-apart', 60],
  ['an-hour-apart', 3_600],
] as const) {
  const times = Float64Array.from({ length: 1_000 }, (_, i) => START + i * step * SECOND + SECOND / 2)
  const query = { tag: 'walk', times, stepped: false, holdUntil: instantFromUs(ends[0]!) }
  measurements.push(
    await measure(
      `storage/interpolated/1000-values-${name}`,
      async () => {
        const [found] = await bench.store.readInterpolated([query], signal)
        expect(!Number.isNaN(found![500]!), 'interpolated values')
      },
      { warmUps: 20, runs: 50, items: 1_000 },
    ),
  )
}
await bench.close()
console.log(JSON.stringify(measurements))
