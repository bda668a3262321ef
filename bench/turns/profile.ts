import { Session } from 'node:inspector/promises'
import { constants, PerformanceObserver } from 'node:perf_hooks'

const SAMPLE_US = 200
const MOST_STEPS = 25
/** Frames of a stack that are printed, the innermost first. */
const FRAMES = 6

const session = new Session()
session.connect()

/** Collections of garbage, with the time that each stopped the thread. */
let collections: { readonly at: number; readonly ms: number; readonly kind: number }[] = []
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind } = (entry as unknown as { readonly detail: { readonly kind: number } }).detail
    collections.push({ at: entry.startTime, ms: entry.duration, kind })
  }
}).observe({ entryTypes: ['gc'] })

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
}

export async function begin(): Promise<void> {
  collections = []
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
  await session.post('Profiler.start')
}

/** What ran between two times of `performance.now`: milliseconds and stack, the longest first. */
export async function end(from: number, to: number): Promise<readonly string[]> {
  const now = performance.now()
  const clock = Number(process.hrtime.bigint() / 1_000n)
  const { profile } = await session.post('Profiler.stop')
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map<number, number>()
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id)
  const stackOf = (id: number) => {
    const frames: string[] = []
    for (let at: number | undefined = id; at !== undefined && frames.length < FRAMES; at = parents.get(at)) {
      const { functionName, url, lineNumber } = nodes.get(at)!.callFrame
      frames.push(`${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`)
    }
    return frames.join(' < ')
  }
  const spent = new Map<string, number>()
  let at = profile.startTime
  const { samples = [], timeDeltas = [] } = profile
  for (const [i, id] of samples.entries()) {
    at += timeDeltas[i]!
    const ms = now + (at - clock) / 1_000
    if (ms < from || ms > to) continue
    const stack = stackOf(id)
    spent.set(stack, (spent.get(stack) ?? 0) + (timeDeltas[i + 1] ?? 0) / 1_000)
  }
  // They are reported in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 20))
  for (const { at: began, ms, kind } of collections) {
    if (began >= from && began <= to)
      spent.set(`${KINDS[kind]} collection of garbage at ${(began - from).toFixed(1)}`, ms)
  }
  return Array.from(spent)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_STEPS)
    .map(([stack, ms]) => `${ms.toFixed(1).padStart(6)} ms  ${stack}`)
}
