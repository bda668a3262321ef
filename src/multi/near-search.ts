import type { Near, Steps } from '../calc/graph/near.ts'
import type { StoredCount } from '../calc/graph/need.ts'
import { clampInstant, END_INSTANT, type Instant, MIN_INSTANT } from '../time/instant.ts'

/** A range of which the historian is to count the points. */
export interface CountedRange {
  readonly from: Instant
  readonly to: Instant
}

/** Counts that lead to the number of points of a read. */
export interface CountSearch {
  /** What is to be counted next. */
  ranges(): readonly CountedRange[]
  /** Takes those counts. @returns the points of the read, at most; `null` while more is to be counted */
  take(counts: readonly number[]): number | null
  /** What the read lies in, wherever it is moved to. Asked for at the end. */
  hull(): CountedRange
}

export function countSearch({ from, to, near }: StoredCount): CountSearch {
  if (near === undefined)
    return { ranges: () => [{ from, to }], take: ([count]) => count!, hull: () => ({ from, to }) }
  return nearSearch(from, to, near)
}

const FIRST_REACH_US = 1_000_000
/** The reach of the first count is so much shorter than the range: raw points mostly lie close to each other. */
const FIRST_PART = 16
const GROWTH = 16

/**
 * An upper bound for a range that is moved to a place next to raw points, which only counts lead to as an estimate
 * fetches nothing: how far away so many points lie is searched in each direction. Wherever the range is moved to, it
 * lies in what it reaches with both.
 */
function nearSearch(from: Instant, to: Instant, { back, ahead, window, floor }: Near): CountSearch {
  const { withinUs, aheadUs, moreUs = 0 } = window ?? {}
  const ofBack = searches(back, true, Math.min(to - from, withinUs ?? to - from))
  const ofAhead = searches(ahead, false, Math.min(to - from, aheadUs ?? to - from))
  const open = () => [...ofBack, ...ofAhead].filter(({ isDone }) => !isDone)
  const hull = (): CountedRange => {
    const [movedBack, movedAhead] = [furthest(ofBack), furthest(ofAhead)]
    const begin = from - movedBack - (movedBack > (withinUs ?? 0) ? moreUs : 0)
    const end = to + movedAhead + (movedAhead > (aheadUs ?? 0) ? moreUs : 0)
    const earliest = Math.min(from, floor ?? MIN_INSTANT)
    return { from: clampInstant(Math.max(begin, earliest)), to: clampInstant(end) }
  }
  return {
    ranges: () => {
      const ranges = open().map((search) => search.range())
      return ranges.length === 0 ? [hull()] : ranges
    },
    take: (counts) => {
      const counted = open()
      for (const [i, search] of counted.entries()) search.take(counts[i]!)
      return counted.length === 0 ? counts[0]! : null
    },
    hull,
  }
}

function searches(steps: Steps | null, isBack: boolean, length: number): readonly ReachSearch[] {
  if (steps === null) return []
  const places = steps.from === steps.to ? [steps.to] : [steps.from, steps.to]
  return places.map((at) => new ReachSearch(at, isBack, steps, length))
}

function furthest(searches: readonly ReachSearch[]): number {
  return Math.max(0, ...searches.map(({ moved }) => moved))
}

/** How far from a place so many raw points lie: wider and wider, then narrowed to a part of the range that is moved. */
class ReachSearch {
  reach: number
  isDone: boolean
  readonly #at: number
  readonly #isBack: boolean
  readonly #points: number
  readonly #slackUs: number
  readonly #length: number
  /** It lies no further away. */
  readonly #most: number
  /** A reach that does not hold the points, and one that does. */
  #low = 0
  #high = Number.POSITIVE_INFINITY

  constructor(at: Instant, isBack: boolean, { points, mostUs, slackUs }: Steps, length: number) {
    this.#at = at
    this.#isBack = isBack
    this.#points = points
    this.#slackUs = slackUs
    this.#length = length
    this.#most = Math.max(0, Math.min(mostUs, isBack ? at - MIN_INSTANT : END_INSTANT - at))
    this.reach = Math.min(this.#most, Math.max(FIRST_REACH_US, Math.ceil(length / FIRST_PART)))
    this.isDone = this.reach === 0 || points === 0
    if (points === 0) this.reach = 0
  }

  /** By how much a place is moved, at most. */
  get moved(): number {
    return Math.min(this.#most, this.reach + this.#slackUs)
  }

  range(): CountedRange {
    // The place itself counts forward: a point at it may be the one that is found back, too.
    return this.#isBack
      ? { from: clampInstant(this.#at - this.reach), to: clampInstant(this.#at) }
      : { from: clampInstant(this.#at + 1), to: clampInstant(this.#at + 1 + this.reach) }
  }

  take(count: number): void {
    if (count >= this.#points || this.reach === this.#most) this.#high = this.reach
    else this.#low = this.reach
    if (this.#high === Number.POSITIVE_INFINITY) {
      const within = this.reach < this.#length
      const wider = within ? Math.min(this.#length, 4 * this.reach) : GROWTH * this.reach
      this.reach = Math.min(this.#most, wider)
      return
    }
    const isNarrow = this.#high <= this.#length || this.#high - this.#low <= this.#length / 2 + FIRST_REACH_US
    this.isDone = isNarrow && this.reach === this.#high
    this.reach = isNarrow ? this.#high : Math.ceil((this.#low + this.#high) / 2)
  }
}
