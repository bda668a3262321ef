import type { PlannedRead } from '../calc/graph/need.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, CountedRange, Historian } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { WideMap } from '../scheduling/wide-map.ts'
import type { Load } from './limit.ts'
import { countSearch } from './near-search.ts'

/** A distinct read of a call, with what it costs. */
export interface EstimatedRead {
  read: PlannedRead
  /** Points that cross the historian contract, at most. */
  points: number
  /** Whether the historian stopped counting at its cap. */
  isCapped: boolean
  /** The last totals that it was counted in (`totalsOf`). */
  countedIn: number
}

/** Reads whose points are counted in one method call, before the event loop is checked for other work. */
const STEP_READS = 4_096

/** The reads that a call will make, each once. */
export class PlannedReads {
  readonly #byKey = new WideMap<EstimatedRead>()
  readonly #all: EstimatedRead[] = []

  /** The read of this tag and key: the one that is planned already, or this one. */
  add(read: PlannedRead): EstimatedRead {
    // A wide map wants the tag at the end.
    const key = `${read.key}\0${read.historian}/${read.tag}`
    const known = this.#byKey.get(key)
    if (known === undefined) {
      const estimated = { read, points: read.atMost, isCapped: false, countedIn: 0 }
      this.#byKey.set(key, estimated)
      this.#all.push(estimated)
      return estimated
    }
    // The same points are wanted without MEDIAN too, so leaving it out would not save them.
    if (known.read.forMedian && !read.forMedian) known.read = read
    return known
  }

  /** Upper bound of the load without asking any historian; may be infinite. */
  atMost(): number {
    let sum = 0
    for (const { read } of this.#all) sum += read.atMost
    return sum
  }

  /**
   * Asks the historians how many points the reads will find, so that every read has its cost estimate. Each stops
   * counting at `cap`. Answers the reads that could not be estimated, with the errors: their labels fail, and no
   * others.
   * @param pause yields to the event loop when that is due
   */
  async estimate(
    historians: HistorianView,
    cap: number,
    context: CallContext,
    pause: () => Promise<void>,
  ): Promise<ReadonlyMap<EstimatedRead, unknown>> {
    const failures = new Map<EstimatedRead, unknown>()
    const open = this.#all.filter(({ read }) => read.stored !== null)
    const byHistorian = Map.groupBy(open, ({ read }) => read.historian)
    await Promise.all(
      Array.from(byHistorian, async ([name, reads]) => {
        const historian = historians.find(name)
        if (historian === null) return
        for (let from = 0; from < reads.length; from += STEP_READS) {
          await pause()
          await estimateReads(reads.slice(from, from + STEP_READS), historian, cap, context, failures)
        }
      }),
    )
    context.signal.throwIfAborted()
    return failures
  }
}

async function estimateReads(
  reads: readonly EstimatedRead[],
  historian: Historian,
  cap: number,
  context: CallContext,
  failures: Map<EstimatedRead, unknown>,
): Promise<void> {
  let open = reads.map((estimated) => ({ estimated, search: countSearch(estimated.read.stored!) }))
  try {
    while (open.length > 0) {
      const steps = open.map(({ estimated, search }) => ({ read: estimated.read, ranges: search.ranges() }))
      const queries = steps.flatMap(({ read, ranges }) => ranges.map((range) => queryOf(read, range)))
      const counts = await historian.estimatePoints(queries, cap, context)
      let next = 0
      open = open.filter(({ estimated, search }, i) => {
        const { length } = steps[i]!.ranges
        const count = search.take(counts.slice(next, next + length))
        next += length
        if (count !== null) setPoints(estimated, count, cap)
        return count === null
      })
    }
  } catch (error) {
    if (reads.length > 1 && error instanceof TidemarkError && error.kind === 'corrupt') {
      // One damaged tag must not take the estimates of the others with it: estimate each alone.
      await Promise.all(reads.map((read) => estimateReads([read], historian, cap, context, failures)))
    } else for (const read of reads) failures.set(read, error)
  }
}

function queryOf({ tag, stored }: PlannedRead, range: Pick<CountedRange, 'from' | 'to'>): CountedRange {
  const compared = stored?.compared
  return compared === undefined ? { tag, ...range } : { tag, ...range, compared }
}

function setPoints(estimated: EstimatedRead, count: number, cap: number): void {
  const { atMost, stored } = estimated.read
  estimated.points = Math.min(atMost, (stored!.copies ?? 1) * count + stored!.extra)
  estimated.isCapped = count >= cap && atMost > cap
}

/** The load of distinct reads. */
export function sumLoad(reads: Iterable<EstimatedRead>): Load {
  let points = 0
  let forMedian = 0
  let capped = false
  for (const estimated of reads) {
    points += estimated.points
    if (estimated.read.forMedian) forMedian += estimated.points
    capped ||= estimated.isCapped
  }
  return { points, forMedian, capped }
}
