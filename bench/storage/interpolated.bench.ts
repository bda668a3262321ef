import { writeBatch } from '../../src/historian/write-batch.ts'
import { interpolate } from '../../src/series/interpolate.ts'
import { instantFromUs } from '../../src/time/instant.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { atOneHertz, openBenchStore, randomWalk, SECOND, START, signal } from './plant.ts'

// 1,000 interpolated values a tag, in process: many tags of which every chunk is needed, and one long tag of which few
// are. The values are those of `interpolate` between bounding values, which is measured beside it in the same run,
// together with processor time.

const TAGS = 100
const POINTS = 20_000
const LONG_POINTS = 1_000_000
const BATCH = 50_000
const TIMES = 1_000

const random = seededRandom(1)
const measurements: Measurement[] = []
const bench = await openBenchStore()
const { store } = bench

/** Values that jump: differences of two and three bytes. */
const jumps = () => Math.round(random() * 100_000)

for (let tag = 0; tag < TAGS; tag++) {
  const next = randomWalk(tag + 1)
  const walk = atOneHertz(0, POINTS, () => next() / 1_000)
  const noise = atOneHertz(0, POINTS, () => jumps() / 1_000)
  const jitter = atOneHertz(0, POINTS, () => next() / 1_000)
  for (let i = 0; i < POINTS; i++) jitter.times[i]! += Math.floor(random() * 900) * 1_000
  const parts = [
    { tag: `walk ${tag}`, points: walk },
    { tag: `noise ${tag}`, points: noise },
    { tag: `jitter ${tag}`, points: jitter },
  ]
  await store.write(writeBatch(parts, true), signal)
}
const next = randomWalk(7)
for (let from = 0; from < LONG_POINTS; from += BATCH) {
  const points = atOneHertz(from, BATCH, () => next() / 1_000)
  await store.write(writeBatch([{ tag: 'long', points }], true), signal)
}
await store.flush()

/** `TIMES` instants from half a second after the first of so many points at 1 Hz up to the last. */
const spread = (points: number) =>
  Float64Array.from({ length: TIMES }, (_, i) =>
    Math.floor(START + SECOND / 2 + (i * (points - 1.5) * SECOND) / (TIMES - 1)),
  )

async function compare(name: string, tags: readonly string[], times: Float64Array): Promise<void> {
  const shape = { stepped: false, holdUntil: instantFromUs(times.at(-1)!) }
  const queries = tags.map((tag) => ({ tag, times, ...shape }))
  const read = () => store.readInterpolated(queries, signal)
  const readBetween = async () =>
    (await store.readBoundingValues(tags, times, signal)).map((found) => interpolate(found, times, shape))
  const expected = await readBetween()
  const found = await read()
  expect(
    expected.every((values, tag) => values.every((value, i) => Object.is(value, found[tag]![i]))),
    'values between neighbours',
  )
  for (const [way, task] of [
    ['', read],
    ['/from-neighbours', readBetween],
  ] as const) {
    for (let i = 0; i < 10; i++) await task()
    const before = process.cpuUsage()
    const measured = await measure(`storage/interpolated/${name}${way}`, task, {
      warmUps: 0,
      runs: 30,
      items: tags.length * TIMES,
    })
    const { user, system } = process.cpuUsage(before)
    const processor = (user + system) / 1_000 / measured.runs
    measurements.push({ ...measured, note: `${processor.toFixed(1)} ms of processor` })
  }
}

const named = (kind: string) => Array.from({ length: TAGS }, (_, tag) => `${kind} ${tag}`)
await compare('100-walks-1000-times', named('walk'), spread(POINTS))
await compare('100-noises-1000-times', named('noise'), spread(POINTS))
await compare('100-jitters-1000-times', named('jitter'), spread(POINTS))
await compare('1000000-points-1000-times', ['long'], spread(LONG_POINTS))
await bench.close()
console.log(JSON.stringify(measurements))
