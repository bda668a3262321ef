import type { PointColumns } from './columns.ts'
import { isGood } from './interpolate.ts'

/** Which gaps are looked for. */
export interface GapSearch {
  /** Edges of the range, in microseconds; gaps are measured from and to them, too. */
  readonly from: number
  readonly to: number
  readonly longerThanUs: number
  /** Most gaps that are given; at least 1. */
  readonly limit: number
}

/** Intervals without a good raw point, in time order, as far as a limit allowed. */
export interface GapPage {
  readonly from: Float64Array
  readonly to: Float64Array
  /** 1 where a BAD point lies inside. */
  readonly bad: Uint8Array
  /** Whether there are more of them. */
  readonly more: boolean
}

/** What a summary of raw points must have, so that gaps are found without them. */
export interface GapSummary {
  readonly count: number
  readonly numGood: number
  readonly firstTime: number
  readonly lastTime: number
  readonly firstGoodTime: number
  readonly lastGoodTime: number
  /** The longest time from a good point to the next; left out where that is not kept. */
  readonly longestGap?: number
}

/** Finds gaps between good points, fed with points and summaries of the range in time order. */
export class GapFinder {
  readonly #search: GapSearch
  readonly #from: number[] = []
  readonly #to: number[] = []
  readonly #bad: number[] = []
  /** Of the last good point. */
  #last: number
  #hasBad = false

  constructor(search: GapSearch) {
    this.#search = search
    this.#last = search.from
  }

  /** Whether it is known that there are more than the limit. */
  get isFull(): boolean {
    return this.#from.length > this.#search.limit
  }

  add(points: PointColumns): void {
    const { times } = points
    for (let i = 0; i < times.length; i++) {
      if (isGood(points, i)) this.#end(times[i]!)
      else this.#hasBad = true
    }
  }

  /** The next points by their summary; false when their points are needed instead, and nothing was taken. */
  addSummary({
    count,
    numGood,
    firstTime,
    lastTime,
    firstGoodTime,
    lastGoodTime,
    longestGap,
  }: GapSummary): boolean {
    if (numGood === 0) {
      if (count > 0) this.#hasBad = true
      return true
    }
    if (longestGap === undefined || longestGap > this.#search.longerThanUs) return false
    if (firstTime < firstGoodTime) this.#hasBad = true
    this.#end(firstGoodTime)
    this.#last = lastGoodTime
    this.#hasBad = lastTime > lastGoodTime
    return true
  }

  /** The gaps, once all points were added. */
  finish(): GapPage {
    this.#end(this.#search.to)
    const { limit } = this.#search
    return {
      from: Float64Array.from(this.#from.slice(0, limit)),
      to: Float64Array.from(this.#to.slice(0, limit)),
      bad: Uint8Array.from(this.#bad.slice(0, limit)),
      more: this.isFull,
    }
  }

  #end(time: number): void {
    if (time - this.#last > this.#search.longerThanUs) {
      this.#from.push(this.#last)
      this.#to.push(time)
      this.#bad.push(Number(this.#hasBad))
    }
    this.#last = time
    this.#hasBad = false
  }
}

export const NO_GAPS: GapPage = {
  from: new Float64Array(0),
  to: new Float64Array(0),
  bad: new Uint8Array(0),
  more: false,
}
