import type { PlannedRead } from '../calc/graph/need.ts'
import type { CallContext, CountedRange, Historian } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import type { Comparisons } from '../series/reads.ts'
import { togetherOrAlone } from './batcher.ts'
import { ByTag } from './by-tag.ts'
import type { Load } from './limit.ts'
import { type CountSearch, countSearch, type CountedRange as Range } from './near-search.ts'
import { type RangeRead, sharedRanges } from './shared-ranges.ts'
import { KEPT_POINTS, KEPT_READS } from './source.ts'

/**
 * A distinct read of a call, with what it costs. It has no key: hundreds of thousands of them, with those of very many
 * labels, would be half of what a plan holds.
 */
export interface EstimatedRead extends Omit<PlannedRead, 'key' | 'forMedian'> {
  forMedian: boolean
  /** Points that cross the historian contract, at most. */
  points: number
  /** Whether the historian stopped counting at its cap. */
  isCapped: boolean
  /** The last totals that it was counted in (`totalsOf`). */
  countedIn: number
  /** What other reads of the tag fetch, too; `null` where none does. */
  shared: SharedPart | null
}

/** Points of a read that lie in a range which other reads fetch, too. */
interface SharedPart {
  readonly range: {
    /** In all of it, at most. */
    readonly points: number
  }
  /** Set for a page: the pages that overlap it, of which one is fetched once. */
  readonly page: object | null
  readonly points: number
  /** Bounding values beside it. */
  readonly edges: number
}

/** Reads whose points are counted in one method call, before the event loop is checked for other work. */
const STEP_READS = 4_096

/** The reads that a call will make, each once; beyond KEPT_READS each as often as it is wanted. */
export class PlannedReads {
  readonly #byKey = new ByTag<EstimatedRead>()
  readonly #all: EstimatedRead[] = []

  /** The read of this tag and key: the one that is planned already, or this one. */
  add(read: PlannedRead): EstimatedRead {
    const { key } = read
    const known = this.#byKey.get(read, key)
    if (known === undefined) {
      const { historian, tag, number, pushDown, atMost, stored, forMedian } = read
      const estimated = {
        historian,
        tag,
        number,
        pushDown,
        atMost,
        stored,
        forMedian,
        points: atMost,
        isCapped: false,
        countedIn: 0,
        shared: null,
      }
      if (this.#all.length < KEPT_READS) this.#byKey.set(read, key, estimated)
      this.#all.push(estimated)
      return estimated
    }
    // The same points are wanted without MEDIAN too, so leaving it out would not save them.
    known.forMedian &&= read.forMedian
    return known
  }

  /** Whether each of them is made once. */
  get areKept(): boolean {
    return this.#all.length <= KEPT_READS
  }

  /** Upper bound of the load without asking any historian; may be infinite. */
  atMost(): number {
    let sum = 0
    for (const { atMost } of this.#all) sum += atMost
    return sum
  }

  /**
   * Asks the historians how many points the reads will find, so that every read has its cost estimate. Each stops
   * counting at `cap`. Answers the reads that could not be estimated, with the errors: their labels fail, and no
   * others.
   */
  async estimate(
    historians: HistorianView,
    cap: number,
    context: CallContext,
    scheduler: CooperativeScheduler,
  ): Promise<ReadonlyMap<EstimatedRead, unknown>> {
    const failures = new Map<EstimatedRead, unknown>()
    const open = this.#all.filter(({ stored }) => stored !== null)
    const byHistorian = Map.groupBy(open, ({ historian }) => historian)
    await Promise.all(
      Array.from(byHistorian, async ([name, reads]) => {
        const historian = historians.find(name)
        if (historian === null) return
        for (let from = 0; from < reads.length; from += STEP_READS) {
          await scheduler.yieldIfDue()
          await togetherOrAlone(
            reads.slice(from, from + STEP_READS),
            (some) => estimateReads(some, historian, cap, context),
            (read, error) => failures.set(read, error),
          )
        }
      }),
    )
    context.signal.throwIfAborted()
    return failures
  }
}

interface CountedRead {
  readonly estimated: EstimatedRead
  readonly search: CountSearch
  count: number
}

async function estimateReads(
  reads: readonly EstimatedRead[],
  historian: Historian,
  cap: number,
  context: CallContext,
): Promise<void> {
  const counted = reads.map(
    (estimated): CountedRead => ({ estimated, search: countSearch(estimated.stored!), count: 0 }),
  )
  let open = counted
  while (open.length > 0) {
    const steps = open.map(({ estimated, search }) => ({ read: estimated, ranges: search.ranges() }))
    const queries = steps.flatMap(({ read, ranges }) =>
      ranges.map((range) => queryOf(read.tag, read.stored!.compared, range)),
    )
    const counts = await historian.estimatePoints(queries, cap, context)
    let next = 0
    open = open.filter((read, i) => {
      const { length } = steps[i]!.ranges
      const count = read.search.take(counts.slice(next, next + length))
      next += length
      if (count === null) return true
      read.count = count
      const { estimated } = read
      const { atMost, stored } = estimated
      estimated.points = Math.min(atMost, count + stored!.extra)
      estimated.isCapped = count >= cap && atMost > cap
      return false
    })
  }
  await share(counted.map(rangeRead), historian, cap, context)
}

/** So many known points amid a range are fetched again with it, no more (src/series/known-points.ts). */
const FETCHED_AGAIN = 4

/** A read whose points a call keeps for other reads of the tag. */
function rangeRead({
  estimated,
  search,
  count,
}: CountedRead): RangeRead & { readonly estimated: EstimatedRead } {
  const { tag, atMost, stored } = estimated
  const { compared, extra } = stored!
  const isWhole = atMost === Number.POSITIVE_INFINITY
  const ofPage = Math.max(0, Math.min(count, atMost - extra) - FETCHED_AGAIN)
  return { estimated, tag, compared, range: search.hull(), count: isWhole ? count : ofPage, isWhole }
}

/** Marks what several reads fetch once. */
async function share(
  reads: readonly (RangeRead & { readonly estimated: EstimatedRead })[],
  historian: Historian,
  cap: number,
  context: CallContext,
): Promise<void> {
  const shared = sharedRanges(reads)
  const open = shared.filter(({ count }) => count === null)
  const queries = open.map(({ tag, from, to, compared }) => queryOf(tag, compared, { from, to }))
  const counts = queries.length === 0 ? [] : await historian.estimatePoints(queries, cap, context)
  let next = 0
  for (const { reads, pages, inner, count } of shared) {
    const range = { points: count ?? counts[next++]! }
    for (const read of reads) {
      const { estimated, count, isWhole } = read
      const points = count <= FETCHED_AGAIN && inner.has(read) ? 0 : count
      if (isWhole) estimated.shared = { range, page: null, points, edges: estimated.stored!.extra }
    }
    for (const page of pages)
      for (const { estimated, count } of page) estimated.shared = { range, page, points: count, edges: 0 }
  }
}

function queryOf(tag: string, compared: Comparisons | undefined, { from, to }: Range): CountedRange {
  const range = { from, to }
  return compared === undefined ? { tag, ...range } : { tag, ...range, compared }
}

/** The load of distinct reads. */
export function sumLoad(reads: Iterable<EstimatedRead>): Load {
  let points = 0
  let capped = false
  let parts: Map<SharedPart['range'], PartSum> | null = null
  for (const estimated of reads) {
    points += estimated.points
    capped ||= estimated.isCapped
    const { shared } = estimated
    if (shared === null) continue
    parts ??= new Map()
    const { page } = shared
    const sum = parts.getOrInsertComputed(shared.range, newSum)
    const known = page === null ? 0 : (sum.pages.get(page) ?? 0)
    sum.points += Math.max(0, shared.points - known)
    if (page !== null) sum.pages.set(page, Math.max(known, shared.points))
    sum.edges += shared.edges
    sum.mostEdges = Math.max(sum.mostEdges, shared.edges)
  }
  // A call that keeps no more points fetches what overlaps again.
  if (parts === null || points > KEPT_POINTS) return { points, capped }
  for (const [range, sum] of parts) {
    points -= sum.points - Math.min(sum.points, range.points)
    points -= sum.edges - Math.min(sum.edges, Math.max(sum.mostEdges, MOST_EDGES))
  }
  return { points, capped }
}

/** Shared parts of some reads, each counted by itself; of pages that overlap the longest. */
interface PartSum {
  points: number
  readonly pages: Map<object, number>
  edges: number
  mostEdges: number
}

function newSum(): PartSum {
  return { points: 0, pages: new Map(), edges: 0, mostEdges: 0 }
}

/** Bounding values of ranges that overlap: most of more ranges end where others do (src/calc/graph/need-set.ts). */
const MOST_EDGES = 96
