import { Agent } from 'node:http'
import type { FailedMeasurement, Measurement } from '../measure.ts'
import { Pings } from './ping.ts'
import type { Outcome, Victim } from './victim.ts'

/** A call beyond the deadline of the service by so much has hung it; it is killed then. */
const LIMIT_MS = 45_000
const SAMPLE_MS = 20
/** How long a service is watched after clients hung up. */
const AFTERWARDS_MS = 2_000

/** Calls that are sent at the same moment. */
export interface Attack {
  /** Stable: `bodies/multi/8-MiB-of-arrays`. */
  readonly name: string
  readonly calls: readonly Call[]
}

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body: Buffer | null
  /** After which the client hangs up, unless it has its answer. */
  readonly hangUpMs?: number
}

/**
 * Sends the calls of an attack at once, with probes beside them.
 * @returns the time until the last answer; the note has the longest wait of a probe, the longest delay of the event
 *              loop as the service itself says, the processor time of the service with the probes in it, or the longest
 *              turn where they are timed, the most anonymous memory, and how the calls ended
 */
export async function measureAttack(
  victim: Victim,
  attack: Attack,
): Promise<Measurement | FailedMeasurement> {
  if (!victim.isRunning) await victim.restart()
  const pings = new Pings(victim.port)
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })
  await new Promise((resolve) => setTimeout(resolve, 200))
  await pings.longest()
  await eventLoopDelay(victim)
  let most = victim.anonymousMb
  const sampling = setInterval(() => {
    const now = victim.anonymousMb
    if (now > most) most = now
  }, SAMPLE_MS)
  const began = performance.now()
  const processorBegan = victim.processorMs
  let outcomes: readonly Outcome[] = []
  let ms = 0
  let processorMs = Number.NaN
  const turns = await victim.timed(async () => {
    outcomes = await Promise.all(
      attack.calls.map(async ({ method, path, body, hangUpMs }) => {
        const outcome = await victim.send(method, path, body, hangUpMs ?? LIMIT_MS, agent)
        return hangUpMs === undefined || outcome.end !== 'no answer'
          ? outcome
          : { ...outcome, end: 'hung up' }
      }),
    )
    // What goes on after its client has gone counts as well.
    if (attack.calls.some(({ hangUpMs }) => hangUpMs !== undefined))
      await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS))
    ms = performance.now() - began
    processorMs = victim.processorMs - processorBegan
  })
  const gap = await pings.longest()
  const delay = await eventLoopDelay(victim)
  clearInterval(sampling)
  agent.destroy()
  await pings.stop()
  const ended = victim.isRunning ? '' : ', THE PROCESS ENDED'
  const isHung = outcomes.some(({ end }) => end === 'no answer')
  const note = [
    `gap ${gap.toFixed(0)} ms`,
    `event loop ${Number.isNaN(delay) ? 'unknown' : `${(delay * 1_000).toFixed(0)} ms`}`,
    // The timing of turns takes all of a processor.
    turns === null
      ? `${(processorMs / 1_000).toFixed(1)} s of processor`
      : `turn ${turns.processorMs.toFixed(0)} ms of processor`,
    `${most.toFixed(0)} MB`,
    `${endsOf(outcomes)}${isHung ? ', HUNG' : ''}${ended}`,
  ].join('; ')
  if (isHung || ended !== '') {
    await victim.restart()
    return { name: attack.name, runs: 0, medianMs: null, p99Ms: null, items: null, note }
  }
  for (const step of turns?.steps ?? []) process.stderr.write(`    ${step}\n`)
  return { name: attack.name, runs: attack.calls.length, medianMs: ms, p99Ms: ms, items: null, note }
}

function endsOf(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>()
  for (const { end } of outcomes) counts.set(end, (counts.get(end) ?? 0) + 1)
  return Array.from(counts, ([end, count]) => (count === 1 ? end : `${count} x ${end}`)).join(', ')
}

/** The longest delay of the event loop since the last look, in seconds (monitorEventLoopDelay, by way of /metrics). */
async function eventLoopDelay(victim: Victim): Promise<number> {
  try {
    const answer = await fetch(`http://127.0.0.1:${victim.port}/metrics`, {
      signal: AbortSignal.timeout(2_000),
    })
    const found = /tidemark_event_loop_lag_seconds\{quantile="1"\} (\S+)/.exec(await answer.text())
    return found === null ? Number.NaN : Number(found[1])
  } catch {
    return Number.NaN
  }
}
