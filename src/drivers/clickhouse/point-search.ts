import type { FindPoint } from '../../historian/contract.ts'
import { US_PER_DAY, US_PER_HOUR } from '../../time/instant.ts'
import { DELETED } from './point-table.ts'

/**
 * How far from an instant a point is looked for, one query after the other, until it is found. The server reads all
 * rows of a tag between the two, so a step is long enough for what is usual and short enough for a tag with a point a
 * second.
 */
const STEPS_US = [US_PER_HOUR, 2 * US_PER_DAY, 60 * US_PER_DAY, Number.POSITIVE_INFINITY]

/** All of time, as far as an Int64 goes. */
const FAR = 9e18

/** The search for one point: the window that is looked through next. */
export class Search {
  readonly tag: string
  readonly isBackward: boolean
  /** Whether BAD points are left out. */
  readonly goodOnly: boolean
  /** The window, [from, to). */
  from: number
  to: number
  /** Whether deleted points are left out from the beginning: after one was met. */
  isExact = false
  isOpen = true
  time = Number.NaN
  value = Number.NaN
  status = 0
  /** The end of the search on the near side. */
  readonly #near: number
  #step = 0

  /** @param options.lastTime when there was a point before */
  constructor(
    tag: string,
    find: FindPoint,
    at: number,
    { goodOnly = false, lastTime }: { readonly goodOnly?: boolean; readonly lastTime?: number | undefined },
  ) {
    this.tag = tag
    this.goodOnly = goodOnly
    this.isBackward = find === 'before' || find === 'before-or-at'
    if (this.isBackward) {
      this.#near = find === 'before' ? at : at + 1
      this.to = this.#near
      this.from = this.#near - STEPS_US[0]!
      // A point that was there before: no window has to begin earlier, and most begin much later.
      const isUsable = lastTime !== undefined && lastTime < this.#near
      if (isUsable && lastTime > this.#near - STEPS_US[2]!) this.from = lastTime
    } else {
      this.#near = find === 'after' ? at + 1 : at
      this.from = this.#near
      // There is little beyond the present.
      const isRecent = this.#near > Date.now() * 1_000 - US_PER_DAY
      this.to = isRecent ? FAR : this.#near + STEPS_US[0]!
    }
  }

  /** Equal for searches that one SELECT can answer. */
  groupKey(): string {
    return `${this.isBackward} ${this.from} ${this.to} ${this.goodOnly} ${this.isExact}`
  }

  found(time: number, value: number, status: number): void {
    if (status === DELETED) {
      this.isExact = true
      return
    }
    this.time = time
    this.value = value
    this.status = status
    this.isOpen = false
  }

  /** There is none in the window: the next one lies beyond it. */
  missed(): void {
    const reach = this.isBackward ? this.#near - this.from : this.to - this.#near
    while (this.#step < STEPS_US.length && STEPS_US[this.#step]! <= reach) this.#step++
    if (this.#step >= STEPS_US.length || reach >= FAR / 2) {
      this.isOpen = false
      return
    }
    const step = STEPS_US[this.#step]!
    if (this.isBackward) {
      this.to = this.from
      this.from = Number.isFinite(step) ? this.#near - step : -FAR
    } else {
      this.from = this.to
      this.to = Number.isFinite(step) ? this.#near + step : FAR
    }
  }
}
