import type { Ledger, PlannedRead } from '../calc/series.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { Load } from './limit.ts'

/** The reads that a call will make, each once, and what they cost. */
export class CallLedger {
  readonly #reads = new Map<string, PricedRead>()

  /** A ledger of one label; what it adds is in this one too. */
  forLabel(): LabelLedger {
    return new LabelLedger(this.#reads)
  }

  /** Upper bound of the load without asking any historian; may be infinite. */
  atMost(): number {
    let sum = 0
    for (const { read } of this.#reads.values()) sum += read.atMost
    return sum
  }

  /** Distinct stored tags. */
  countTags(): number {
    return new Set(Array.from(this.#reads.values(), ({ read }) => `${read.historian}/${read.tag}`)).size
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
      Array.from(this.#reads.values()).filter((priced) => priced.read.stored !== null),
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
    return sumLoad(this.#reads.values())
  }
}

/** The reads of one label. */
export class LabelLedger implements Ledger {
  readonly #shared: Map<string, PricedRead>
  readonly #own = new Map<string, PricedRead>()

  constructor(shared: Map<string, PricedRead>) {
    this.#shared = shared
  }

  add(read: PlannedRead): void {
    const key = `${read.historian}/${read.tag}\0${read.key}`
    let priced = this.#shared.get(key)
    if (priced === undefined) {
      priced = { read, points: read.atMost, capped: false }
      this.#shared.set(key, priced)
    } else if (priced.read.forMedian && !read.forMedian) {
      // The same points are wanted without MEDIAN too, so leaving it out would not save them.
      priced.read = read
    }
    this.#own.set(key, priced)
  }

  /** Addresses of the distinct stored tags, in the order in which they were first needed. */
  tags(): readonly string[] {
    return [...new Set(Array.from(this.#own.values(), ({ read }) => `${read.historian}/${read.tag}`))]
  }

  /** What historians compute themselves for this label. */
  pushDowns(): readonly string[] {
    const pushDowns = Array.from(this.#own.values(), ({ read }) => read.pushDown)
    return [...new Set(pushDowns.filter((pushDown) => pushDown !== null))].sort()
  }

  /** The first historian of the label that is among the given ones. */
  historianAmong(names: { has(name: string): boolean }): string | null {
    for (const { read } of this.#own.values()) {
      if (names.has(read.historian)) return read.historian
    }
    return null
  }

  load(): Load {
    return sumLoad(this.#own.values())
  }
}

interface PricedRead {
  read: PlannedRead
  /** Points that cross the historian contract, at most. */
  points: number
  capped: boolean
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
