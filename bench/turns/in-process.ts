import type * as Profiler from './profile.ts'

const profiler: typeof Profiler | null =
  process.env.TURNS_PROFILE === '1' ? await import('./profile.ts') : null

/**
 * The longest turn of the event loop of this process while a task runs, in milliseconds of processor time of its
 * thread, collections of garbage in it included. TURNS_PROFILE=1 prints what it did.
 */
export async function longestTurn(task: () => unknown): Promise<number> {
  let longest = { processorMs: 0, from: 0, to: 0 }
  let isOver = false
  let at = 0
  let from = 0
  const turn = () => {
    const to = performance.now()
    const spent = processorMs() - at
    if (spent > longest.processorMs) longest = { processorMs: spent, from, to }
    if (isOver) return
    from = performance.now()
    at = processorMs()
    setImmediate(turn)
  }
  await profiler?.begin()
  // Not in the turn that calls, which may have done much before.
  await new Promise<void>((resolve) => setImmediate(resolve))
  from = performance.now()
  at = processorMs()
  setImmediate(turn)
  await task()
  // The turn that ended the task counts as a whole.
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  isOver = true
  const steps = (await profiler?.end(longest.from, longest.to)) ?? []
  if (steps.length > 0)
    process.stderr.write(`${longest.processorMs.toFixed(1)} ms\n  ${steps.join('\n  ')}\n`)
  return longest.processorMs
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
