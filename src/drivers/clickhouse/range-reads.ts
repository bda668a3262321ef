import type { CallContext, RangeQuery, RangeResult, TagRange } from '../../historian/contract.ts'
import { concatColumns, type PointColumns, reverseColumns, sliceColumns } from '../../series/columns.ts'
import { instantFromUs } from '../../time/instant.ts'
import type { PointTable, RangeStats } from './point-table.ts'

/** Ranges with fewer rows are read whole: that costs less than a second round trip. */
const SMALL = 4_096

/** Ranges that are known to be small for the read that follows an estimate or a page, for so long. */
const MAX_HINTS = 10_000
const HINT_MS = 10_000

/** Rows up to which overwritten and deleted points are distinguished from others to count exactly. */
const MAX_EXACT = 200_000

/**
 * Raw points of ranges, and how many there are. The server cannot stop at a limit without sorting all that is before
 * it, so a large range is read in chunks that are cut by how dense its points are.
 */
export class RangeReads {
  readonly #points: PointTable
  /**
   * A range of each tag that had few rows a moment ago: it and what lies in it is read whole, without asking again.
   * Nothing else may be taken from what was known then, since points may have been written meanwhile.
   */
  readonly #small = new Map<string, { readonly from: number; readonly to: number; readonly until: number }>()

  constructor(points: PointTable) {
    this.#points = points
  }

  async read(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    const stats = await this.#statsOf(queries, context)
    const reads = queries.map((query, i) => new ChunkedRead(query, stats[i]!))
    for (;;) {
      const open = reads.filter(({ next }) => next !== null)
      if (open.length === 0) break
      const found = await this.#points.points(
        open.map(({ next }) => next!),
        context,
      )
      open.forEach((read, i) => {
        read.take(found[i]!)
      })
    }
    return reads.map((read) => read.result())
  }

  /** How many points each range has; of ranges of many rows, how many rows: overwritten and deleted points too. */
  async count(ranges: readonly TagRange[], context: CallContext): Promise<readonly number[]> {
    const distinct = new Map<string, TagRange>()
    for (const range of ranges) distinct.set(keyOf(range), range)
    const asked = [...distinct.values()]
    const stats = await this.#points.stats(asked, context)
    const counts = new Map<string, number>()
    const unsure: TagRange[] = []
    asked.forEach((range, i) => {
      const { rows, plain } = stats[i]!
      counts.set(keyOf(range), rows)
      if (!plain && rows <= MAX_EXACT) unsure.push(range)
      this.#remember(range, stats[i]!)
    })
    const exact = await this.#points.count(unsure, context)
    unsure.forEach((range, i) => {
      counts.set(keyOf(range), exact[i]!)
    })
    return ranges.map((range) => counts.get(keyOf(range))!)
  }

  /** Statistics of the ranges; `null` for all where each is known to be small. */
  async #statsOf(
    queries: readonly RangeQuery[],
    context: CallContext,
  ): Promise<readonly (RangeStats | null)[]> {
    const now = performance.now()
    if (queries.every((query) => this.#isSmall(query, now))) return queries.map(() => null)
    const stats = await this.#points.stats(queries, context)
    queries.forEach((query, i) => {
      this.#remember(query, stats[i]!)
    })
    return stats
  }

  #isSmall({ tag, from, to }: TagRange, now: number): boolean {
    const small = this.#small.get(tag)
    return small !== undefined && small.until > now && small.from <= from && to <= small.to
  }

  #remember({ tag, from, to }: TagRange, { rows }: RangeStats): void {
    if (rows > SMALL) return
    if (this.#small.size >= MAX_HINTS) this.#small.clear()
    this.#small.set(tag, { from, to, until: performance.now() + HINT_MS })
  }
}

function keyOf({ tag, from, to }: TagRange): string {
  return `${from} ${to} ${tag}`
}

/** One range, read from the end that its order begins with, until there is one point more than its limit. */
class ChunkedRead {
  readonly #query: RangeQuery
  readonly #parts: PointColumns[] = []
  #length = 0
  #from: number
  #to: number
  /** Length of the next chunk. */
  #chunkUs: number
  next: TagRange | null

  /** @param stats just read; `null` for a range that is small */
  constructor(query: RangeQuery, stats: RangeStats | null) {
    this.#query = query
    this.#from = query.from
    this.#to = query.to
    const wanted = query.limit + 1
    this.#chunkUs = Number.POSITIVE_INFINITY
    if (stats !== null && stats.rows > Math.max(SMALL, wanted * 2)) {
      const { rows, firstTime, lastTime } = stats
      // As long as it would be if the points were evenly dense, and a little more.
      this.#chunkUs = Math.max(1, Math.ceil(((lastTime - firstTime) / rows) * wanted * 1.3))
      if (query.order === 'asc') this.#from = firstTime
      else this.#to = Math.min(query.to, lastTime + 1)
    }
    this.next = null
    this.#cut()
  }

  /** The points of `next`. */
  take(points: PointColumns): void {
    this.#parts.push(this.#query.order === 'asc' ? points : reverseColumns(points))
    this.#length += points.times.length
    if (this.#query.order === 'asc') this.#from = this.next!.to
    else this.#to = this.next!.from
    // Points that lie bunched are found by longer and longer steps.
    this.#chunkUs *= 4
    this.#cut()
  }

  result(): RangeResult {
    const points = concatColumns(this.#parts)
    const { limit } = this.#query
    const more = points.times.length > limit
    return { points: more ? sliceColumns(points, 0, limit) : points, more }
  }

  #cut(): void {
    const { tag, order, limit } = this.#query
    if (this.#from >= this.#to || this.#length > limit) {
      this.next = null
      return
    }
    const from = order === 'asc' ? this.#from : Math.max(this.#from, this.#to - this.#chunkUs)
    const to = order === 'asc' ? Math.min(this.#to, this.#from + this.#chunkUs) : this.#to
    this.next = { tag, from: instantFromUs(from), to: instantFromUs(to) }
  }
}
