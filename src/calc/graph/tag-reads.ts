import { isCorrupt } from '../../errors/tidemark-error.ts'
import {
  concatColumns,
  type PointColumns,
  reverseColumns,
  STATUS_BAD,
  sliceColumns,
} from '../../series/columns.ts'
import { KnownPoints } from '../../series/known-points.ts'
import type { BoundingValues, FindPoint, RangeResult } from '../../series/reads.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { RawRange, SinglePoint } from './point-source.ts'

/** Pages of so many points are those of ranges that are read as a whole. */
const WHOLE_PAGE = 4_096

/** A range that is being fetched. */
interface PendingRange {
  readonly from: number
  readonly to: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly done: Promise<unknown>
}

/**
 * The reads of one tag in a call: a range fetches only what no earlier one has fetched, and waits for one that is on
 * its way and holds it. So nested calculations, which read the same range from many instants on, fetch it once.
 */
export class TagReads {
  readonly #known = new KnownPoints()
  readonly #pending = new Set<PendingRange>()
  readonly #mayKeep: () => boolean

  /** @param mayKeep whether more points may be kept in memory */
  constructor(mayKeep: () => boolean) {
    this.#mayKeep = mayKeep
  }

  /** The raw point next to an instant; `null` where the known points do not show it. */
  point(find: FindPoint, at: Instant): SinglePoint | null {
    const found = this.#known.point(find, at)
    if (found === null) return null
    const { time, value, status } = found
    return { time: instantFromUs(time), value, bad: status === STATUS_BAD }
  }

  /** Bounding values at a single time; `null` for several, and where the known points do not show them. */
  boundingValues(times: Float64Array): BoundingValues | null {
    return times.length === 1 ? this.#known.boundingValues(times[0]!) : null
  }

  /** @param fetch reads from the historian; called with what is missing, once for each part of it */
  async range(range: RawRange, fetch: (missing: RawRange) => Promise<RangeResult>): Promise<RangeResult> {
    if (range.from >= range.to) return fetch(range)
    for (;;) {
      const answer = this.#known.answer(range)
      if (answer !== null) return answer
      if (!this.#mayKeep()) return fetch(range)
      const { from, to, known } = this.#known.gap(range)
      const pending = this.#pendingFor(from, to, range)
      if (pending !== null) {
        await pending.done.catch(throwUnlessDamaged)
        continue
      }
      // Where all that is asked for is known, one point more shows whether there are more.
      const limit = Math.max(1, range.limit - known)
      const missing = { from: instantFromUs(from), to: instantFromUs(to), order: range.order, limit }
      // Taken with the gap: what others fetch meanwhile may reach over the points that are missing here.
      const begin = this.#known.beginning(range)
      const page = await this.#fetched(range, missing, begin, fetch(missing))
      if (page !== null) return page
    }
  }

  /** The page of a range when the part of it that was missing ends it; `null` where it goes on. */
  async #fetched(
    range: RawRange,
    missing: RawRange,
    begin: PointColumns,
    done: Promise<RangeResult>,
  ): Promise<RangeResult | null> {
    const { from, to, order } = missing
    const pending: PendingRange = { from, to, order, limit: range.limit, done }
    this.#pending.add(pending)
    try {
      const { points, more } = await done
      this.#keep(missing, points, more)
      if (!more) return this.#known.answer(range)
      return { points: sliceColumns(concatColumns([begin, points]), 0, range.limit), more }
    } finally {
      this.#pending.delete(pending)
    }
  }

  #keep({ from, to, order }: RawRange, points: PointColumns, more: boolean): void {
    const last = points.times.at(-1)
    if (order === 'asc') this.#known.add(from, more ? (last ?? from - 1) + 1 : to, points)
    else this.#known.add(more ? (last ?? to) : from, to, reverseColumns(points))
  }

  #pendingFor(from: number, to: number, { order, limit }: RawRange): PendingRange | null {
    for (const pending of this.#pending) {
      if (pending.from >= to || from >= pending.to) continue
      // Long pages are parts of ranges that are read as a whole: what overlaps them is fetched once.
      if (limit >= WHOLE_PAGE || pending.limit >= WHOLE_PAGE) return pending
      if (pending.from <= from && to <= pending.to && pending.order === order) return pending
    }
    return null
  }
}

/** Damage may lie elsewhere in what others read: then it is an error of theirs alone. */
function throwUnlessDamaged(error: unknown): void {
  if (!isCorrupt(error)) throw error
}
