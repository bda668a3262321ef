/** One measured case: times in milliseconds, and what they were for. */
export interface Measurement {
  /** Stable: `multi/raw/100000-points`. */
  readonly name: string
  readonly runs: number
  readonly medianMs: number
  readonly p99Ms: number
  /**
   * Processor time of one run, all threads of this process, user and system: the median, or of many short runs the
   * mean, as garbage is collected in few of them for all others. Left out where others do the work.
   */
  readonly processorMs?: number
  /** Items that one run handles, for a rate; null where there is none. */
  readonly items: number | null
  /** As measured, where runs overlapped in time; left out it is what the median says. */
  readonly itemsPerSecond?: number
  readonly note: string
}

/** A case without figures; the note says why. */
export interface FailedMeasurement {
  readonly name: string
  readonly runs: 0
  readonly medianMs: null
  readonly p99Ms: null
  readonly processorMs?: undefined
  readonly items: null
  readonly itemsPerSecond?: undefined
  readonly note: string
}

export interface MeasureOptions {
  readonly warmUps: number
  readonly runs: number
  readonly items?: number
  readonly note?: string
}

const MANY_RUNS = 1_000

/** Runs a task often enough to speak of a median. The task checks its own result: a fast wrong answer is no figure. */
export async function measure(
  name: string,
  task: (run: number) => unknown,
  options: MeasureOptions,
): Promise<Measurement> {
  for (let run = 0; run < options.warmUps; run++) await task(run)
  const times: number[] = []
  const processor: number[] = []
  for (let run = 0; run < options.runs; run++) {
    const used = process.cpuUsage()
    const start = performance.now()
    await task(options.warmUps + run)
    times.push(performance.now() - start)
    const { user, system } = process.cpuUsage(used)
    processor.push((user + system) / 1000)
  }
  times.sort((a, b) => a - b)
  processor.sort((a, b) => a - b)
  const mean = processor.reduce((sum, time) => sum + time, 0) / processor.length
  return {
    name,
    runs: times.length,
    medianMs: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    processorMs: processor.length < MANY_RUNS ? quantile(processor, 0.5) : mean,
    items: options.items ?? null,
    note: options.note ?? '',
  }
}

/** Of ascending numbers, at least one; `q` from 0 to 1. */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!
}

/** Uniform numbers in [0, 1) that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Throws when what a benchmark relies on does not hold. */
export function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`The benchmark's result is wrong: ${what}`)
}
