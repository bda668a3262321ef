import { US_PER_DAY } from '../../time/instant.ts'

/**
 * Windows that InfluxDB makes in one statement: all of one width, one after the other. A single one may be longer than
 * InfluxDB's durations.
 */
export interface WindowRun {
  /** Index of the first window. */
  readonly first: number
  readonly windows: number
  /** Where the first window begins, and their width. */
  readonly startNs: bigint
  readonly widthNs: bigint
}

/** Narrower windows are matched exactly only: InfluxDB's times, in microseconds, have to tell one from the next. */
const LEAST_BENT_US = 1_000

/**
 * Longer windows are a run each: InfluxDB counts windows from an offset below their width, and 20 years before 1700 are
 * about the first of its nanoseconds of 64 bits.
 */
const LONGEST_JOINED_US = 20 * 365 * US_PER_DAY

/**
 * Cuts windows into as few runs as it easily can. Windows of a fraction of a microsecond are rounded to whole ones and
 * so of two widths in turn; as points have whole microseconds, a window may as well begin up to 999 nanoseconds before
 * its edge, which is room for windows of one width in nanoseconds.
 * @param edges n + 1 ascending instants for n windows
 */
export function windowRuns(edges: Float64Array): WindowRun[] {
  const runs: WindowRun[] = []
  for (let first = 0; first < edges.length - 1; ) {
    const run = longestRun(edges, first)
    runs.push(run)
    first += run.windows
  }
  return runs
}

function longestRun(edges: Float64Array, first: number): WindowRun {
  const left = edges.length - 1 - first
  const exact = runOf(edges, first, BigInt(edges[first + 1]! - edges[first]!) * 1_000n)
  // A single window may be longer than nanoseconds of a double are exact.
  let best: WindowRun = exact.windows > 0 ? exact : { ...exact, windows: 1 }
  if (edges[first + 1]! - edges[first]! > LONGEST_JOINED_US) return { ...best, windows: 1 }
  if (edges[first + 1]! - edges[first]! < LEAST_BENT_US) return best
  for (const windows of [left, 512, 64, 16, 4]) {
    if (windows > left || best.windows >= windows) continue
    const spanNs = BigInt(edges[first + windows]! - edges[first]!) * 1_000n
    const run = runOf(edges, first, (spanNs + BigInt(windows) / 2n) / BigInt(windows))
    if (run.windows > best.windows) best = run
  }
  return best
}

/** The windows from one on that a width fits; none when it does not fit the first. */
function runOf(edges: Float64Array, first: number, widthNs: bigint): WindowRun {
  const edge = edges[first]!
  const width = Number(widthNs)
  // From where to where the first window may begin, relative to its edge, for all windows so far.
  let least = -999
  let most = 0
  let windows = 0
  for (let index = first + 1; index < edges.length; index++) {
    const spanNs = (edges[index]! - edge) * 1_000
    const offNs = spanNs - (index - first) * width
    // Of spans beyond three months the nanoseconds are not exact any more in a double: then in whole microseconds.
    const isExact = Number.isSafeInteger(spanNs) || (width % 1_000 === 0 && offNs === 0)
    if (!isExact || offNs - 999 > most || offNs < least) break
    least = Math.max(least, offNs - 999)
    most = Math.min(most, offNs)
    windows++
  }
  return { first, windows, startNs: BigInt(edge) * 1_000n + BigInt(most), widthNs }
}
