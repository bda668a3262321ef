import type { Ledger, PlannedRead } from '../calc/series.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { Load } from './limit.ts'

/** The reads that a call will make, each once, and what they cost. */
export class CallLedger {
  readonly #tags = new PlannedTags()

  /** A ledger of one label; what it adds is in this one too. */
  forLabel(): LabelLedger {
    return new LabelLedger(this.#tags)
  }

  /** Upper bound of the load without asking any historian; may be infinite. */
  atMost(): number {
    let sum = 0
    for (const { read } of this.#tags.reads) sum += read.atMost
    return sum
  }

  /** Distinct reads. */
  countReads(): number {
    return this.#tags.reads.length
  }

  /** Distinct stored tags. */
  countTags(): number {
    return this.#tags.count
  }

  /**
   * Asks the historians how many points the reads will find, so that every read has its price. Each stops counting
   * at `cap`. Answers the historians that could not tell, with their errors: their labels fail, and no others.
   */
  async price(
    historians: HistorianView,
    cap: number,
    context: CallContext,
  ): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>()
    const byHistorian = Map.groupBy(
      this.#tags.reads.filter((priced) => priced.read.stored !== null),
      (priced) => priced.read.historian,
    )
    await Promise.all(
      Array.from(byHistorian, async ([name, priced]) => {
        try {
          const historian = historians.find(name)
          if (historian !== null) await priceReads(priced, historian, cap, context)
        } catch (error) {
          failures.set(name, error)
        }
      }),
    )
    return failures
  }

  load(): Load {
    return sumLoad(this.#tags.reads)
  }
}

/** The reads of one label. */
export class LabelLedger implements Ledger {
  readonly #shared: PlannedTags
  /** As they were added: one that is needed twice may stand here twice. Most labels need one read, kept without an array. */
  #first: PricedRead | null = null
  #others: PricedRead[] | null = null

  constructor(shared: PlannedTags) {
    this.#shared = shared
  }

  add(read: PlannedRead): void {
    const priced = this.#shared.add(read)
    if (priced.read.forMedian && !read.forMedian) {
      // The same points are wanted without MEDIAN too, so leaving it out would not save them.
      priced.read = read
    }
    if (this.#first === null) this.#first = priced
    else if (this.#others !== null) {
      if (this.#others.at(-1) !== priced) this.#others.push(priced)
    } else if (this.#first !== priced) this.#others = [priced]
  }

  /** Addresses of the distinct stored tags, in the order in which they were first needed. */
  tags(): readonly string[] {
    return [...new Set(this.#added().map(({ read }) => `${read.historian}/${read.tag}`))]
  }

  /** What historians compute themselves for this label. */
  pushDowns(): readonly string[] {
    const pushDowns = this.#added().map(({ read }) => read.pushDown)
    return [...new Set(pushDowns.filter((pushDown) => pushDown !== null))].sort()
  }

  /** The first historian of the label that is among the given ones. */
  historianAmong(names: { has(name: string): boolean }): string | null {
    for (const { read } of this.#added()) {
      if (names.has(read.historian)) return read.historian
    }
    return null
  }

  load(): Load {
    return sumLoad(new Set(this.#added()))
  }

  #added(): readonly PricedRead[] {
    return this.#first === null ? [] : [this.#first, ...(this.#others ?? [])]
  }
}

/**
 * The distinct reads by historian, tag and key. Most tags of a large call are read in one way only: the first read of a tag
 * stands beside the others, so that it needs neither a map nor a joined name of its own.
 */
class PlannedTags {
  readonly reads: PricedRead[] = []
  /** `null` until there is a second read. */
  #historians: Map<string, Map<string, PricedRead>> | null = null
  #count = 0

  /** Distinct tags. */
  get count(): number {
    return this.#count
  }

  /** The read of this tag and key: the one that is planned already, or this one. */
  add(read: PlannedRead): PricedRead {
    if (this.#historians === null) {
      if (this.reads.length === 0) {
        this.#count++
        return this.#planned(read)
      }
      const [only] = this.reads
      this.#historians = new Map([[only!.read.historian, new Map([[only!.read.tag, only!]])]])
    }
    let tags = this.#historians.get(read.historian)
    if (tags === undefined) {
      tags = new Map()
      this.#historians.set(read.historian, tags)
    }
    const first = tags.get(read.tag)
    if (first === undefined) {
      const priced = this.#planned(read)
      tags.set(read.tag, priced)
      this.#count++
      return priced
    }
    if (first.read.key === read.key) return first
    first.others ??= new Map()
    let priced = first.others.get(read.key)
    if (priced === undefined) {
      priced = this.#planned(read)
      first.others.set(read.key, priced)
    }
    return priced
  }

  #planned(read: PlannedRead): PricedRead {
    const priced = { read, points: read.atMost, capped: false, others: null }
    this.reads.push(priced)
    return priced
  }
}

interface PricedRead {
  read: PlannedRead
  /** Points that cross the historian contract, at most. */
  points: number
  capped: boolean
  /** On the first read of a tag: its other ones by key. */
  others: Map<string, PricedRead> | null
}

async function priceReads(
  reads: readonly PricedRead[],
  historian: Historian,
  cap: number,
  context: CallContext,
): Promise<void> {
  const ranges = reads.map(({ read }) => ({ tag: read.tag, from: read.stored!.from, to: read.stored!.to }))
  const counts = await historian.estimatePoints(ranges, cap, context)
  reads.forEach((priced, index) => {
    const count = counts[index]!
    priced.points = Math.min(priced.read.atMost, count + priced.read.stored!.extra)
    priced.capped = count >= cap && priced.read.atMost > cap
  })
}

function sumLoad(reads: Iterable<PricedRead>): Load {
  let points = 0
  let forMedian = 0
  let capped = false
  for (const priced of reads) {
    points += priced.points
    if (priced.read.forMedian) forMedian += priced.points
    capped ||= priced.capped
  }
  return { points, forMedian, capped }
}
