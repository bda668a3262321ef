import type { Near, Steps } from '../calc/graph/near.ts'
import type { StoredCount } from '../calc/graph/need.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'

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
  return new NearSearch(from, to, near)
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
class NearSearch implements CountSearch {
  readonly #from: Instant
  readonly #to: Instant
  readonly #window: Near['window']
  readonly #floor: Instant
  readonly #back: readonly ReachSearch[]
  readonly #ahead: readonly ReachSearch[]

  constructor(from: Instant, to: Instant, near: Near) {
    this.#from = from
    this.#to = to
    this.#window = near.window
    this.#floor = near.floor ?? MIN_INSTANT
    const { back, ahead, window } = near
    this.#back = searches(back, true, Math.min(to - from, window?.withinUs ?? to - from))
    this.#ahead = searches(ahead, false, Math.min(to - from, window?.aheadUs ?? to - from))
  }

  ranges(): readonly CountedRange[] {
    const open = this.#open()
    return open.length === 0 ? [this.hull()] : open.map((search) => search.range())
  }

  take(counts: readonly number[]): number | null {
    const open = this.#open()
    open.forEach((search, i) => {
      search.take(counts[i]!)
    })
    return open.length === 0 ? counts[0]! : null
  }

  hull(): CountedRange {
    const [back, ahead] = [this.#back, this.#ahead].map((all) =>
      Math.max(0, ...all.map(({ moved }) => moved)),
    )
    const { withinUs = 0, aheadUs = 0, moreUs = 0 } = this.#window ?? {}
    const from = this.#from - back! - (back! > withinUs ? moreUs : 0)
    const to = this.#to + ahead! + (ahead! > aheadUs ? moreUs : 0)
    return { from: accepted(Math.max(from, Math.min(this.#from, this.#floor))), to: accepted(to) }
  }

  #open(): readonly ReachSearch[] {
    return [...this.#back, ...this.#ahead].filter(({ isDone }) => !isDone)
  }
}

function searches(steps: Steps | null, isBack: boolean, length: number): readonly ReachSearch[] {
  if (steps === null) return []
  const places = steps.from === steps.to ? [steps.to] : [steps.from, steps.to]
  return places.map((at) => new ReachSearch(at, isBack, steps, length))
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
      ? { from: accepted(this.#at - this.reach), to: accepted(this.#at) }
      : { from: accepted(this.#at + 1), to: accepted(this.#at + 1 + this.reach) }
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

function accepted(us: number): Instant {
  return instantFromUs(Math.min(Math.max(us, MIN_INSTANT), END_INSTANT))
}
