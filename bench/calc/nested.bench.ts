import { expect, type Measurement, measure } from '../measure.ts'
import { secondsIn, startPlant } from './plant.ts'

/**
 * What calculations inside each other cost over many raw points: see docs/performance.md. In process, with larger
 * limits.
 */
const POINTS = 100_000
const DEEP =
  'ROUND(MAX(ADD(MUL(SUB(DIV(SQRT(ABS(NEG(ADD(plant/T0, plant/T1)))), plant/T0), plant/T1), plant/T0), 5), 0), 2)'
const CASES: Readonly<Record<string, string>> = {
  'pointwise/10-deep/2-tags': DEEP,
  'threshold/4-deep':
    'THRESHOLD(THRESHOLD(THRESHOLD(THRESHOLD(plant/T0, 5, 9, 0), 4, 8, 1), 3, 7, 2), 2, 6, 3)',
  'filters/4-deep': 'LOWPASS(HIGHPASS(LOWPASS(HIGHPASS(plant/T0, 60), 30), 20), 10)',
  'rolling/3-deep': 'SLIDINGAGG(SLIDINGAGG(SLIDINGAGG(plant/T0, AVG, 1m), MAX, 1m), AVG, 1m)',
  'totals/2-deep': 'TOTALISE(TOTALISE(plant/T0, HOUR, BEGIN_HOUR, 1h), DAY, BEGIN_DAY, 1h)',
}
const LIMITS = { historianLoad: 500_000_000, deadlineSeconds: 120 }
const RUNS = { warmUps: 2, runs: 7 }

const results: Measurement[] = []
const plant = await startPlant(secondsIn(POINTS))
try {
  for (let tag = 0; tag < 2; tag++)
    await plant.write(`T${tag}`, POINTS, (i) => 1 + tag + ((i * (tag + 3)) % 17))
  const range = { from: secondsIn(0) / 1000, to: secondsIn(POINTS) / 1000, maxPoints: POINTS }
  for (const [name, calculation] of Object.entries(CASES)) {
    const ask = { a: { type: 'RAW_POINTS', tag: `calc/${calculation}`, details: range } }
    const answer = (await plant.ask(ask, LIMITS)).toString()
    expect(answer.includes('"dataPoints":[{'), `${name} has points: ${answer.slice(0, 200)}`)
    results.push(
      await measure(`calc/raw/${name}/100000-points`, async () => void (await plant.ask(ask, LIMITS)), {
        ...RUNS,
        items: POINTS,
      }),
    )
  }
} finally {
  await plant.stop()
}
process.stdout.write(JSON.stringify(results))
