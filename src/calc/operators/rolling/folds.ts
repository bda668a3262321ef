/**
 * Aggregates of many windows over the same items, in time that is linear in items and windows however much the windows
 * overlap. A window is the items with index from `first` (included) to `end` (excluded), and has a pivot between them
 * that others share with it.
 */
export interface Windows {
  readonly first: Int32Array
  readonly end: Int32Array
  /** Neither before the first item of a window nor after its end; the same whatever other windows are asked for. */
  readonly pivots: Int32Array
}

/** Windows that follow each other, with the same pivot. */
interface Group {
  readonly pivot: number
  /** The earliest first item, and the latest end. */
  readonly first: number
  readonly end: number
  /** Indexes of the windows. */
  readonly from: number
  readonly to: number
}

/**
 * Aggregation from a pivot: what lies between each index and the pivot is worked out once for a group, from the pivot
 * on in either direction, and a window is what lies before the pivot and what lies behind it. Nothing is ever taken
 * away from an aggregate again, so that no digits are lost to what has left a window and one outlier spoils only the
 * windows that hold it; and no aggregate depends on other windows than its own.
 * @source M. van Herk, A fast algorithm for local minimum and maximum filters, Pattern Recognition Letters 13 (1992)
 */
function forGroups({ first, end, pivots }: Windows, work: (group: Group) => void): void {
  for (let from = 0; from < pivots.length; ) {
    const pivot = pivots[from]!
    let [earliest, latest] = [pivot, pivot]
    let to = from
    for (; to < pivots.length && pivots[to] === pivot; to++) {
      if (first[to]! < earliest) earliest = first[to]!
      if (end[to]! > latest) latest = end[to]!
    }
    work({ pivot, first: earliest, end: latest, from, to })
    from = to
  }
}

/**
 * Sums over windows; NaN items are left out, a window without any other has the sum 0. Not finite where a sum
 * overflows. What each addition rounds away is kept and added last (Neumaier).
 */
export function windowSums(items: Float64Array, windows: Windows): Float64Array {
  const sums = new Float64Array(windows.first.length)
  let high = NONE
  let low = NONE
  const add = (item: number, at: number, next: number): void => {
    const term = Number.isNaN(item) ? 0 : item
    high[next] = high[at]! + term
    low[next] = low[at]! + lost(high[at]!, term)
  }
  forGroups(windows, ({ pivot, first, end, from, to }) => {
    high = longEnough(high, end - first + 1)
    low = longEnough(low, end - first + 1)
    high[pivot - first] = 0
    low[pivot - first] = 0
    for (let k = pivot - first; k > 0; k--) add(items[first + k - 1]!, k, k - 1)
    for (let k = pivot - first; k < end - first; k++) add(items[first + k]!, k, k + 1)
    for (let i = from; i < to; i++) {
      const [a, b] = [windows.first[i]! - first, windows.end[i]! - first]
      const sum = high[a]! + high[b]!
      // Once a sum has overflowed, what was lost is NaN; the overflow itself is the answer.
      sums[i] = Number.isFinite(sum) ? sum + (lost(high[a]!, high[b]!) + (low[a]! + low[b]!)) : sum
    }
  })
  return sums
}

const NONE: Float64Array = new Float64Array(0)

/** A column of any contents for so many values: that of the group before, where it is as long. */
function longEnough(column: Float64Array, length: number): Float64Array {
  return column.length < length ? new Float64Array(2 * length) : column
}

/** What the sum of two numbers rounds away. */
function lost(a: number, b: number): number {
  const sum = a + b
  return Math.abs(a) >= Math.abs(b) ? a - sum + b : b - sum + a
}

/**
 * Integrals over windows from those of cells. A cell where the signal has no value has the integral 0: NaN is one that
 * overflowed with both signs, and makes the integral of each window that holds it not finite.
 */
export function windowIntegrals(cells: Float64Array, windows: Windows): Float64Array {
  if (!cells.some((integral) => Number.isNaN(integral))) return windowSums(cells, windows)
  const items = cells.map((integral) => (Number.isNaN(integral) ? Number.POSITIVE_INFINITY : integral))
  return windowSums(items, windows)
}

/** Groups of values by their number, mean, and sum of squared differences from it; one value is (1, value, 0). */
export interface Moments {
  readonly counts: Float64Array
  readonly means: Float64Array
  readonly squares: Float64Array
}

/**
 * Sample variance of the values of each window: NaN of none, 0 of one.
 *
 * Groups are merged (Chan, Golub, LeVeque) by their distance from the value next to the pivot on either side, which is
 * in all that is merged there, so that 1,000,000 ± 0.01 keeps its digits.
 */
export function windowVariances(moments: Moments, windows: Windows): Float64Array {
  const variances = new Float64Array(windows.first.length)
  const merged = new MergedMoments(moments)
  forGroups(windows, ({ pivot, first, end, from, to }) => {
    merged.begin(pivot, first, end)
    for (let k = pivot; k > first; k--) merged.add(k - 1, k, k - 1)
    const center = merged.center
    merged.begin(pivot, first, end)
    for (let k = pivot; k < end; k++) merged.add(k, k, k + 1)
    const apart = merged.center - center
    for (let i = from; i < to; i++) variances[i] = merged.variance(windows.first[i]!, windows.end[i]!, apart)
  })
  return variances
}

/** Moments of all groups between a pivot and each index of a span of them. */
class MergedMoments {
  readonly #groups: Moments
  /** Where the span begins: columns hold no more than it. */
  #first = 0
  #counts = NONE
  /** Distances from the center. */
  #means = NONE
  #squares = NONE
  /** The mean of the first group with values from the pivot on. */
  center = 0

  constructor(groups: Moments) {
    this.#groups = groups
  }

  begin(pivot: number, first: number, end: number): void {
    const length = end - first + 1
    this.center = 0
    this.#first = first
    this.#counts = longEnough(this.#counts, length)
    this.#means = longEnough(this.#means, length)
    this.#squares = longEnough(this.#squares, length)
    this.#counts[pivot - first] = 0
    this.#means[pivot - first] = 0
    this.#squares[pivot - first] = 0
  }

  /** Merges a group with those up to an index; the result is that at the next index. */
  add(group: number, at: number, next: number): void {
    const { counts, means, squares } = this.#groups
    const [from, to] = [at - this.#first, next - this.#first]
    const more = counts[group]!
    const known = this.#counts[from]!
    const all = known + more
    this.#counts[to] = all
    this.#means[to] = this.#means[from]!
    this.#squares[to] = this.#squares[from]!
    if (more === 0) return
    if (known === 0) this.center = means[group]!
    const apart = means[group]! - this.center - this.#means[from]!
    this.#means[to]! += apart * (more / all)
    this.#squares[to]! += squares[group]! + apart * apart * ((more * known) / all)
  }

  /** Of what lies on both sides of the pivot. @param apart the distance between their centers */
  variance(first: number, end: number, apart: number): number {
    const [from, to] = [first - this.#first, end - this.#first]
    const [before, behind] = [this.#counts[from]!, this.#counts[to]!]
    const all = before + behind
    if (all <= 1) return all === 0 ? Number.NaN : 0
    const distance = apart + this.#means[to]! - this.#means[from]!
    const between = before > 0 && behind > 0 ? distance * distance * ((before * behind) / all) : 0
    return (this.#squares[from]! + this.#squares[to]! + between) / (all - 1)
  }
}

/** Least or greatest item of each window; NaN items are left out, a window without any other has NaN. */
export function windowExtremes(items: Float64Array, windows: Windows, which: 'min' | 'max'): Float64Array {
  const extremes = new Float64Array(windows.first.length)
  const pick = which === 'min' ? smaller : larger
  let picked = NONE
  forGroups(windows, ({ pivot, first, end, from, to }) => {
    picked = longEnough(picked, end - first + 1)
    picked[pivot - first] = Number.NaN
    for (let k = pivot - first; k > 0; k--) picked[k - 1] = pick(picked[k]!, items[first + k - 1]!)
    for (let k = pivot - first; k < end - first; k++) picked[k + 1] = pick(picked[k]!, items[first + k]!)
    for (let i = from; i < to; i++)
      extremes[i] = pick(picked[windows.first[i]! - first]!, picked[windows.end[i]! - first]!)
  })
  return extremes
}

/** Of two the smaller; NaN only when both are. */
export function smaller(a: number, b: number): number {
  return a <= b || Number.isNaN(b) ? a : b
}

export function larger(a: number, b: number): number {
  return a >= b || Number.isNaN(b) ? a : b
}
