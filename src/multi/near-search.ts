import type { Near } from '../calc/graph/near.ts'
import type { StoredCount } from '../calc/graph/need.ts'
import { instantFromUs, MIN_INSTANT } from '../time/instant.ts'

/** A range of which the historian is to count the points. */
interface CountedRange {
  readonly from: StoredCount['from']
  readonly to: StoredCount['to']
}

/** Counts that lead to the number of points of a read. */
export interface CountSearch {
  /** What is to be counted next. */
  ranges(): readonly CountedRange[]
  /** Takes those counts. @returns the points of the read, at most; `null` while more is to be counted */
  take(counts: readonly number[]): number | null
}

export function countSearch({ from, to, near }: StoredCount): CountSearch {
  if (near === undefined) return { ranges: () => [{ from, to }], take: ([count]) => count! }
  // So many raw points at most, wherever it lies.
  if (to - from <= FEW_US && near.window === undefined) return { ranges: () => [], take: () => to - from }
  return new NearSearch(from, to, near)
}

/** A range of a few microseconds is not searched. */
const FEW_US = 16
const FIRST_REACH_US = 1_000_000
/** The reach of the first count is so much shorter than the range: raw points mostly lie close to each other. */
const FIRST_PART = 16
const GROWTH = 16

/**
 * An upper bound for a range that is moved back to a place next to raw points, which only counts lead to as an estimate
 * fetches nothing: the reach that holds so many points is searched, wider and wider, then narrowed to the length of the
 * range. The range, moved by no more than the reach, holds no more points than both together.
 */
class NearSearch implements CountSearch {
  readonly #to: number
  readonly #near: Near
  readonly #length: number
  #reach: number
  /** A reach that does not hold the points, and one that does. */
  #low = 0
  #high = Number.POSITIVE_INFINITY

  constructor(from: number, to: number, near: Near) {
    this.#to = to
    this.#near = near
    this.#length = to - from
    const within = Math.min(this.#length, near.window?.withinUs ?? this.#length)
    this.#reach = Math.max(FIRST_REACH_US, Math.ceil(within / FIRST_PART))
  }

  ranges(): readonly CountedRange[] {
    const reach = this.#reach
    return [this.#reached(reach), this.#reached(reach + this.#longest(reach))]
  }

  take([near, all]: readonly number[]): number | null {
    if (near! >= this.#near.count || this.#isEverything()) this.#high = this.#reach
    else this.#low = this.#reach
    if (this.#high === Number.POSITIVE_INFINITY) {
      const within = this.#reach < this.#length
      this.#reach = within ? Math.min(this.#length, 4 * this.#reach) : GROWTH * this.#reach
      return null
    }
    const isNarrow = this.#high <= this.#length || this.#high - this.#low <= this.#length / 2 + FIRST_REACH_US
    if (isNarrow && this.#reach === this.#high) return all!
    this.#reach = isNarrow ? this.#high : Math.ceil((this.#low + this.#high) / 2)
    return null
  }

  /** Of a range that was moved by so much. */
  #longest(reach: number): number {
    const { window } = this.#near
    return window === undefined || reach <= window.withinUs ? this.#length : this.#length + window.moreUs
  }

  #isEverything(): boolean {
    return this.#to - this.#reach <= MIN_INSTANT
  }

  #reached(us: number): CountedRange {
    return { from: instantFromUs(Math.max(MIN_INSTANT, this.#to - us)), to: instantFromUs(this.#to) }
  }
}
