import { expect, type Measurement, measure } from '../measure.ts'
import { secondsIn, startPlant } from './plant.ts'

/**
 * What a deep calculation costs over reading its inputs: see docs/performance.md. In process, with the default limits.
 */
const TAGS = 5
const POINTS = 1000
const CALCULATION =
  'ROUND(MAX(ADD(MUL(SUB(DIV(SQRT(ABS(NEG(ADD(plant/T0, plant/T1)))), plant/T2), plant/T3), plant/T4), 5), 0), 2)'
/** As many as V8 takes to compile all of it. */
const RUNS = { warmUps: 15_000, runs: 3_000 }

const results: Measurement[] = []
const plant = await startPlant(secondsIn(10_000))
try {
  for (let tag = 0; tag < TAGS; tag++) await plant.write(`T${tag}`, POINTS, (i) => valueAt(tag, i))
  await measureReads()
} finally {
  await plant.stop()
}
process.stdout.write(JSON.stringify(results))

function valueAt(tag: number, index: number): number {
  return 1 + tag + ((index * (tag + 3)) % 17)
}

async function measureReads(): Promise<void> {
  const range = { from: secondsIn(0) / 1000, to: secondsIn(POINTS) / 1000, maxPoints: POINTS }
  const raw = tagRequests('RAW_POINTS', range)
  const read = await measure(
    'reference/raw/5-tags/1000-points',
    async () => expect((await plant.ask(raw)).length > TAGS * POINTS * 50, 'all raw points came'),
    { ...RUNS, items: TAGS * POINTS },
  )
  // In the middle between points, so that every value is interpolated.
  const grid = { from: secondsIn(0.5) / 1000, to: secondsIn(POINTS - 0.5) / 1000, count: POINTS }
  const inputs = tagRequests('INTERPOLATED_POINTS', grid)
  const interpolated = await measure(
    'reference/interpolated/5-tags/1000-points',
    async () => expect((await plant.ask(inputs)).length > TAGS * POINTS * 50, 'all points came'),
    { ...RUNS, items: TAGS * POINTS },
  )
  const deep = { a: { type: 'INTERPOLATED_POINTS', tag: `calc/${CALCULATION}`, details: grid } }
  check(JSON.parse((await plant.ask(deep)).toString()))
  const calculated = await measure(
    'calc/interpolated/10-deep/5-tags/1000-points',
    async () => expect((await plant.ask(deep)).length > POINTS * 50, 'all points came'),
    { ...RUNS, items: POINTS },
  )
  const ratio = ({ medianMs }: Measurement) => (calculated.medianMs / medianMs).toFixed(2)
  const note = `${ratio(read)} x reading the raw points of its tags, ${ratio(interpolated)} x interpolating them`
  results.push(read, interpolated, { ...calculated, note })
}

function tagRequests(type: string, details: object): object {
  return Object.fromEntries(
    Array.from({ length: TAGS }, (_, tag) => [`t${tag}`, { type, tag: `plant/T${tag}`, details }]),
  )
}

function check(answer: {
  readonly results: { readonly a: { readonly dataPoints: readonly { readonly value: number }[] } }
}): void {
  const { dataPoints } = answer.results.a
  expect(dataPoints.length === POINTS, 'there are 1,000 points')
  dataPoints.forEach(({ value }, i) => {
    // The last point is held.
    const next = Math.min(i + 1, POINTS - 1)
    const [a, b, c, d, e] = Array.from(
      { length: TAGS },
      (_, tag) => (valueAt(tag, i) + valueAt(tag, next)) / 2,
    ) as [number, number, number, number, number]
    const expected = Math.max((Math.sqrt(a + b) / c - d) * e + 5, 0)
    expect(Math.abs(value - expected) <= 0.005 + 1e-9, `${value} at ${i} is ${expected}, rounded`)
  })
}
