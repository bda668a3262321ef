import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Measurement } from '../measure.ts'
import { quantile } from '../measure.ts'
import { processorMs, startCeiling, startService } from '../service.ts'
import type { LoadOrder, LoadResult } from './load-process.ts'
import { type Form, WORKLOADS, type Workload } from './workloads.ts'

/**
 * Writes over HTTP, acknowledged and durable, on the service and on the bare server of ceiling-server.ts in turn: what keys,
 * checks, messages and a store that can be read cost. CEILING_ROUNDS sets the rounds, CEILING_ONLY a text that names hold.
 */
const ROUNDS = Number(process.env.CEILING_ROUNDS ?? 3)
const ONLY = process.env.CEILING_ONLY ?? ''
const FORMS: readonly Form[] = ['rows', 'columns']

/** A server and what was measured of it. */
interface Side {
  readonly name: 'ceiling' | 'service'
  readonly target: Awaited<ReturnType<typeof startCeiling>>
  /** Points a second of each round. */
  readonly rates: number[]
  readonly requestMs: number[]
  processorNs: number
  points: number
}

const load = fork(join(import.meta.dirname, 'load-process.ts'), {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
const measurements: Measurement[] = []
try {
  for (const workload of WORKLOADS) {
    const rates = new Map<string, number>()
    for (const form of FORMS) {
      if (!`${workload.name}/${form}`.includes(ONLY)) continue
      for (const side of await measureBoth(workload, form)) {
        rates.set(`${side.name}/${form}`, quantile(side.rates.toSorted(ascending), 0.5))
        measurements.push(measurementOf(workload, form, side, rates))
      }
    }
  }
} finally {
  load.kill()
}
process.stdout.write(JSON.stringify(measurements))

async function measureBoth(workload: Workload, form: Form): Promise<readonly Side[]> {
  const service = await startService()
  const ceiling = await startCeiling()
  const sides: readonly Side[] = [sideOf('ceiling', ceiling), sideOf('service', service)]
  try {
    // The first round is for compilers and caches; it is a short one.
    for (let round = 0; round <= ROUNDS; round++) {
      const requests = round === 0 ? Math.ceil(workload.requests / 5) : workload.requests
      await order(load, { kind: 'prepare', workload, form, round, requests })
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const { pid, port, key } = side.target
        const before = processorMs(pid)
        const result = await order(load, { kind: 'send', port, key, writers: workload.writers })
        if (round === 0) continue
        const { ms, requestMs } = result as LoadResult
        const points = requests * workload.tags * workload.points
        side.processorNs += (processorMs(pid) - before) * 1e6
        side.points += points
        side.rates.push((points / ms) * 1_000)
        side.requestMs.push(...requestMs)
      }
    }
  } finally {
    await ceiling.stop()
    await service.stop()
  }
  return sides
}

function sideOf(name: Side['name'], target: Side['target']): Side {
  return { name, target, rates: [], requestMs: [], processorNs: 0, points: 0 }
}

function measurementOf(
  workload: Workload,
  form: Form,
  side: Side,
  rates: ReadonlyMap<string, number>,
): Measurement {
  const times = side.requestMs.toSorted(ascending)
  const rate = rates.get(`${side.name}/${form}`)!
  const notes = [`${Math.round(side.processorNs / side.points)} ns of processor a point`]
  if (side.name === 'service') notes.unshift(`${(rate / rates.get(`ceiling/${form}`)!).toFixed(2)} x ceiling`)
  const rows = rates.get(`${side.name}/rows`)
  if (form === 'columns' && rows !== undefined) notes.unshift(`${(rate / rows).toFixed(2)} x rows`)
  return {
    name: `ceiling/${workload.name}/${form}/${side.name}`,
    runs: times.length,
    medianMs: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    items: workload.tags * workload.points,
    itemsPerSecond: rate,
    note: notes.join(', '),
  }
}

function ascending(a: number, b: number): number {
  return a - b
}

async function order(process: ChildProcess, message: LoadOrder): Promise<LoadResult | null> {
  const gone = once(process, 'exit').then(() => {
    throw new Error('The load process ended')
  })
  process.send(message)
  const [answer] = await Promise.race([once(process, 'message'), gone])
  return answer as LoadResult | null
}
