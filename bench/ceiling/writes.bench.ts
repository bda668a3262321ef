import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Measurement } from '../measure.ts'
import { quantile } from '../measure.ts'
import { processorMs, startCeiling, startService } from '../service.ts'
import type { LoadOrder, LoadResult } from './load-process.ts'
import { type Form, WORKLOADS, type Workload } from './workloads.ts'

/**
 * Writes over HTTP, acknowledged and durable, on the service and on the bare server of ceiling-server.ts in turn: what
 * keys, checks, messages and a store that can be read cost. CEILING_ROUNDS sets the rounds, CEILING_ONLY a text that
 * names hold.
 */
const ROUNDS = Number(process.env.CEILING_ROUNDS ?? 5)
const ONLY = process.env.CEILING_ONLY ?? ''
const FORMS: readonly Form[] = ['rows', 'columns']

/** A form of points at a server, and what was measured of it. */
interface Side {
  readonly name: 'ceiling' | 'service'
  readonly form: Form
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
    if (!workload.name.includes(ONLY)) continue
    const rates = new Map<string, number>()
    for (const side of await measureAll(workload)) {
      rates.set(`${side.name}/${side.form}`, quantile(side.rates.toSorted(ascending), 0.5))
      measurements.push(measurementOf(workload, side, rates))
    }
  }
} finally {
  load.kill()
}
process.stdout.write(JSON.stringify(measurements))

/** Both forms at both servers in turn, so that what else the machine does meets them all alike. */
async function measureAll(workload: Workload): Promise<readonly Side[]> {
  const { requests } = workload
  const service = await startService()
  const ceiling = await startCeiling()
  const sides = FORMS.flatMap((form) => [sideOf('ceiling', form, ceiling), sideOf('service', form, service)])
  try {
    // The first round is for compilers and caches, and fills what is flushed in the next.
    for (let round = 0; round <= ROUNDS; round++) {
      let prepared: Form | null = null
      const forms = round % 2 === 0 ? FORMS : FORMS.toReversed()
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const { form } = side
        // Each form has times of its own, later than all that were sent before.
        const slot = FORMS.length * round + forms.indexOf(form)
        if (form !== prepared) await order(load, { kind: 'prepare', workload, form, round: slot })
        prepared = form
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

function sideOf(name: Side['name'], form: Form, target: Side['target']): Side {
  return { name, form, target, rates: [], requestMs: [], processorNs: 0, points: 0 }
}

function measurementOf(workload: Workload, side: Side, rates: ReadonlyMap<string, number>): Measurement {
  const { form } = side
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

function order(process: ChildProcess, message: LoadOrder): Promise<LoadResult | null> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('The load process ended'))
    process.once('exit', onExit).once('message', (answer) => {
      process.off('exit', onExit)
      resolve(answer as LoadResult | null)
    })
    process.send(message)
  })
}
