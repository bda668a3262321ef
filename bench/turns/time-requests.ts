import { expect, type Measurement, quantile } from '../measure.ts'
import { startService } from '../service.ts'
import { type Turns, TurnTimer } from './turns.ts'

/** The body goes to `/historian/<path>`, and is answered without errors. */
export type TimedRequest = readonly [name: string, path: string, body: string]

/**
 * The longest turn of the event loop of a real service for each of some requests, which it answers one after the other,
 * round by round. The first round is not measured: its functions are not compiled yet. TURNS_PROFILE=1 prints what the
 * longest turns did.
 * @param settings  environment of the service
 */
export async function timeRequests(
  group: string,
  requests: readonly TimedRequest[],
  rounds: number,
  settings: Readonly<Record<string, string>>,
): Promise<readonly Measurement[]> {
  const timer = new TurnTimer()
  const service = await startService({ ...settings, ...timer.environment })
  const taken = new Map<string, Turns[]>(requests.map(([name]) => [name, []]))
  const times = new Map<string, number[]>(requests.map(([name]) => [name, []]))
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const [name, path, text] of requests) {
        const began = performance.now()
        const turns = await timer.time(async () => {
          const answer = await service.post(`/historian/${path}`, text)
          expect(
            /"errors":(\{\}|\[\])/.test(answer.toString('latin1')),
            `${name}: ${answer.toString('latin1', 0, 300)}`,
          )
        })
        if (round === 0) continue
        times.get(name)!.push(performance.now() - began)
        taken.get(name)!.push(turns)
      }
    }
  } finally {
    await service.stop()
    timer.remove()
  }
  return requests.map(([name]) => measurementOf(`${group}/${name}`, taken.get(name)!, times.get(name)!))
}

function measurementOf(name: string, taken: readonly Turns[], times: readonly number[]): Measurement {
  const all = taken.toSorted((a, b) => a.processorMs - b.processorMs)
  const byClock = all.map(({ ms }) => ms).sort((a, b) => a - b)
  const whole = times.toSorted((a, b) => a - b)
  const own = all.map(({ processorMs }) => processorMs)
  const { steps } = all[Math.floor(all.length / 2)]!
  if (steps.length > 0)
    process.stderr.write(`${name}: ${quantile(own, 0.5).toFixed(1)} ms\n  ${steps.join('\n  ')}\n`)
  return {
    name,
    runs: own.length,
    medianMs: quantile(own, 0.5),
    p99Ms: quantile(own, 0.99),
    items: null,
    note: `longest turn, processor; by the clock ${quantile(byClock, 0.5).toFixed(0)} ms; call ${quantile(whole, 0.5).toFixed(0)} ms`,
  }
}
