import { takesSignal } from '../../../series/aggregate.ts'
import type { AggregateName } from '../../../series/aggregate-names.ts'
import { clampInstant, END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import type { FindWindow } from '../../../time/windows.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import { reachOf } from '../../graph/reach.ts'
import type { WindowOpRule } from './ops.ts'

/** Windows that are read at a time, at most. */
export const MAX_BATCH = 8_192
/** The window that holds an instant, and one on either side. */
export const AROUND = 3
/** Levels of an input up to which searches beyond empty windows are estimated. */
const SEARCHED_LEVELS = 2

const COUNTS: readonly AggregateName[] = ['numGood', 'numBad']

/** Windows by the start of the first and the end of the last. */
export interface WindowRange {
  readonly from: number
  readonly to: number
}

/** The windows of WINDOWAGG. */
export interface Windows {
  readonly find: FindWindow
  /** Of a window, about: for the estimate. */
  readonly lengthUs: number
  /** All of them: those of what is read of the operator, and the one on either side. */
  readonly bounds: WindowRange
}

/** Tumbling windows over an input: which of them are read, and where further ones are looked for. */
export class Windowing {
  readonly input: Operator
  readonly aggregate: AggregateName
  readonly windows: FindWindow
  readonly lengthUs: number
  readonly now: Instant
  readonly bounds: WindowRange
  /** Whether functions around read beyond the request's range, before it and behind it. */
  readonly beyond: { readonly back: boolean; readonly forward: boolean }
  readonly #stepped: boolean

  constructor(
    input: Operator,
    { aggregate, stepped }: WindowOpRule,
    { find, lengthUs, bounds }: Windows,
    context: OperatorContext,
  ) {
    this.input = input
    this.aggregate = aggregate
    this.windows = find
    this.lengthUs = lengthUs
    this.now = context.now
    this.#stepped = stepped
    const { from, to } = reachOf(context)
    this.bounds = bounds
    this.beyond = { back: from < context.range.from, forward: to > context.range.to }
  }

  get isCount(): boolean {
    return COUNTS.includes(this.aggregate)
  }

  /** Whether windows have values also where they have no raw points, and are gone through one by one. */
  get isOfSignal(): boolean {
    return takesSignal([this.aggregate])
  }

  /** Whether a window without good points has no point, so that the next one is found beside a raw point. */
  get hasGaps(): boolean {
    return !this.isCount && !this.isOfSignal
  }

  /**
   * Whether the windows that are looked for beyond empty ones are estimated, other than those of a page. Not over deep
   * calculations: each level would mark places beside those of the level above, and their sum would be far above what
   * is read. Windows over a calculation are rarely empty, and then a few of each level are read beyond the estimate.
   */
  get searchesExactly(): boolean {
    return this.input.levels <= SEARCHED_LEVELS
  }

  /** The windows that a range touches, and the one on either side; the nearest ones to a range that touches none. */
  around(from: number, to: number): WindowRange {
    const last = lastBefore(this.bounds.to)
    const within = (at: number) => Math.min(Math.max(at, this.bounds.from), last)
    return windowsAround(this.windows, this.bounds, { from: within(from), to: within(to) })
  }

  /** The same for a range that is read from the raw point before it to the one after it, or to further ones. */
  aroundPoints(from: number, to: number, beyond: number): WindowRange {
    const more = (beyond - 1) * this.lengthUs
    return this.around(this.#pointNextTo(from, true) - more, this.#pointNextTo(to, false) + more)
  }

  /** Where the raw point next to an instant stands, if its window has one. */
  #pointNextTo(at: number, isBack: boolean): number {
    const { start, end } = this.windows(clampInstant(at))
    const point = this.pointOf(start, end)
    if (isBack ? point <= at : point >= at) return point
    const next = this.windows(clampInstant(isBack ? start - 1 : end))
    return this.pointOf(next.start, next.end)
  }

  /** Where the raw point of a window stands. */
  pointOf(start: number, end: number): number {
    return this.#stepped ? start : start + Math.floor((end - start) / 2)
  }

  /** Whether a window with a value is looked for before what begins here. */
  looksBack(from: number): boolean {
    return !this.isCount && from > this.bounds.from
  }

  /** The same behind what ends here: step interpolation needs the next point only for values after `now`. */
  looksForward(to: number): boolean {
    return this.goesOn(to) && (!this.#stepped || to > this.now)
  }

  /** Whether there may be a further window behind what ends here. */
  goesOn(to: number): boolean {
    return !this.isCount && to < this.bounds.to
  }

  /** Edges of the first or last windows of a range, ascending. @param most of the windows */
  edges(from: number, to: number, order: 'asc' | 'desc', most: number): Float64Array {
    const edges = [order === 'asc' ? from : to]
    for (let at = edges[0]!; (order === 'asc' ? at < to : at > from) && edges.length <= most; ) {
      at = order === 'asc' ? this.windows(instantFromUs(at)).end : this.windows(lastBefore(at)).start
      edges.push(at)
    }
    return Float64Array.from(order === 'asc' ? edges : edges.reverse())
  }
}

/** The last accepted instant before one: the last window may end where doubles are more than a microsecond apart. */
function lastBefore(at: number): Instant {
  return instantFromUs(Math.min(at, END_INSTANT) - 1)
}

/** From the window of the first accepted instant to that of the last one. */
export function allWindows(windows: FindWindow): WindowRange {
  const last = instantFromUs(END_INSTANT - 1)
  return { from: windows(MIN_INSTANT).start, to: windows(last).end }
}

/** The windows that a range touches, and the one on either side. @param limits all windows */
export function windowsAround(
  windows: FindWindow,
  limits: WindowRange,
  { from, to }: WindowRange,
): WindowRange {
  const { start } = windows(instantFromUs(from))
  const { end } = windows(instantFromUs(to))
  return {
    from: start <= limits.from ? limits.from : windows(instantFromUs(start - 1)).start,
    to: end >= limits.to ? limits.to : windows(end).end,
  }
}
