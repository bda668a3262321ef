/**
 * Aggregates of many windows over the same items, in time that is linear in items and windows however much the windows
 * overlap. A window is the items with index from `first` (included) to `end` (excluded). Ends never descend; starts
 * may, as those of calendar windows do after a short month or a change of clocks.
 */
export interface Windows {
  readonly first: Int32Array
  readonly end: Int32Array
}

/**
 * What is folded, in two parts that meet at a pivot: all items before it, and those from it on as far as they were
 * added.
 */
interface TwoPartFold {
  /** Prepares what is between each index of [first, pivot] and the pivot, and forgets what was added. */
  turn(first: number, pivot: number): void
  /** Adds the next item from the pivot on. */
  add(item: number): void
  /** The aggregate of the items from `first` to the pivot, and of all that were added. */
  take(window: number, first: number): void
}

/**
 * Aggregation with two stacks: nothing is ever taken away from an aggregate again, so that no digits are lost to what
 * has left a window, and one outlier spoils only the windows that hold it.
 */
function fold({ first, end }: Windows, parts: TwoPartFold): void {
  const earliest = earliestFrom(first)
  let pivot = 0
  let added = 0
  parts.turn(0, 0)
  for (let i = 0; i < first.length; i++) {
    if (first[i]! >= pivot && end[i]! > pivot) {
      pivot = end[i]!
      added = pivot
      parts.turn(earliest[i]!, pivot)
    }
    while (added < end[i]!) parts.add(added++)
    parts.take(i, Math.min(first[i]!, pivot))
  }
}

/** For each window the earliest start of it and all that come after. */
function earliestFrom(first: Int32Array): Int32Array {
  const earliest = first.slice()
  for (let i = first.length - 2; i >= 0; i--) earliest[i] = Math.min(first[i]!, earliest[i + 1]!)
  return earliest
}

/**
 * Sums over windows whose ends may descend, as those of calendar windows can; NaN items are left out, a window without
 * any other has the sum 0. Not finite where a sum overflows. What each addition rounds away is kept and added last
 * (Neumaier), on both sides of the pivot, so that a sum does not depend on where the pivot lies.
 */
export function windowSums(items: Float64Array, windows: Windows): Float64Array {
  const { first, end } = windows
  if (end.every((index, i) => i === 0 || index >= end[i - 1]!)) return ascendingSums(items, windows)
  const order = Uint32Array.from(end.keys()).sort((a, b) => end[a]! - end[b]!)
  const inOrder = (indexes: Int32Array): Int32Array => Int32Array.from(order, (i) => indexes[i]!)
  const sums = ascendingSums(items, { first: inOrder(first), end: inOrder(end) })
  const found = new Float64Array(sums.length)
  order.forEach((i, n) => {
    found[i] = sums[n]!
  })
  return found
}

function ascendingSums(items: Float64Array, windows: Windows): Float64Array {
  const sums = new Float64Array(windows.first.length)
  const high = new Float64Array(items.length + 1)
  const low = new Float64Array(items.length + 1)
  let added = 0
  let addedLow = 0
  fold(windows, {
    turn: (first, pivot) => {
      added = 0
      addedLow = 0
      high[pivot] = 0
      low[pivot] = 0
      for (let k = pivot - 1; k >= first; k--) {
        const item = items[k]!
        const term = Number.isNaN(item) ? 0 : item
        const before = high[k + 1]!
        high[k] = before + term
        low[k] = low[k + 1]! + lost(before, term)
      }
    },
    add: (k) => {
      const item = items[k]!
      if (Number.isNaN(item)) return
      addedLow += lost(added, item)
      added += item
    },
    take: (i, first) => {
      const before = high[first]!
      const sum = before + added
      // Once a sum has overflowed, what was lost is NaN; the overflow itself is the answer.
      sums[i] = Number.isFinite(sum) ? sum + (lost(before, added) + (low[first]! + addedLow)) : sum
    },
  })
  return sums
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
 * Groups are merged (Chan, Golub, LeVeque) by their distance from a value that is in every window concerned, so that
 * 1,000,000 ± 0.01 keeps its digits.
 */
export function windowVariances({ counts, means, squares }: Moments, windows: Windows): Float64Array {
  const variances = new Float64Array(windows.first.length)
  const length = counts.length + 1
  const n = new Float64Array(length)
  const mean = new Float64Array(length)
  const m2 = new Float64Array(length)
  let center = 0
  let addedN = 0
  let addedMean = 0
  let addedM2 = 0
  const reset = (): void => {
    addedN = 0
    addedMean = 0
    addedM2 = 0
  }
  fold(windows, {
    turn: (first, pivot) => {
      reset()
      n[pivot] = 0
      mean[pivot] = 0
      m2[pivot] = 0
      // The last group before the pivot is in every window until the next iteration.
      let last = pivot - 1
      while (last > first && counts[last] === 0) last--
      if (last >= first && counts[last]! > 0) center = means[last]!
      for (let k = pivot - 1; k >= first; k--) {
        const more = counts[k]!
        const all = n[k + 1]! + more
        n[k] = all
        mean[k] = mean[k + 1]!
        m2[k] = m2[k + 1]!
        if (more === 0) continue
        const apart = means[k]! - center - mean[k + 1]!
        mean[k]! += apart * (more / all)
        m2[k]! += squares[k]! + apart * apart * ((more * n[k + 1]!) / all)
      }
    },
    add: (k) => {
      const more = counts[k]!
      if (more === 0) return
      const apart = means[k]! - center - addedMean
      const all = addedN + more
      addedM2 += squares[k]! + apart * apart * ((more * addedN) / all)
      addedMean += apart * (more / all)
      addedN = all
    },
    take: (i, first) => {
      const all = n[first]! + addedN
      const apart = addedMean - mean[first]!
      const both = n[first]! > 0 && addedN > 0 ? apart * apart * ((n[first]! * addedN) / all) : 0
      variances[i] = all === 0 ? Number.NaN : all === 1 ? 0 : (m2[first]! + addedM2 + both) / (all - 1)
    },
  })
  return variances
}

/**
 * Least or greatest item of each window; NaN items are left out, a window without any other has NaN. Keeps a stack of
 * the items that no later one outdoes (a monotonic queue), and finds the first of a window in it.
 */
export function windowExtremes(items: Float64Array, windows: Windows, which: 'min' | 'max'): Float64Array {
  const extremes = new Float64Array(windows.first.length).fill(Number.NaN)
  const sign = which === 'min' ? 1 : -1
  const stack = new Int32Array(items.length)
  let height = 0
  let next = 0
  // Where the window before began in the stack; the next one mostly begins a little later.
  let hint = 0
  for (let i = 0; i < extremes.length; i++) {
    const first = windows.first[i]!
    for (; next < windows.end[i]!; next++) {
      const item = items[next]! * sign
      if (Number.isNaN(item)) continue
      while (height > 0 && items[stack[height - 1]!]! * sign >= item) height--
      stack[height++] = next
    }
    let low = Math.min(hint, height)
    if (low > 0 && stack[low - 1]! >= first) low = 0
    let step = 1
    let high = low
    // Galloping first: starts move on by a few items from window to window.
    while (high < height && stack[high]! < first) {
      low = high + 1
      high += step
      step *= 2
    }
    high = Math.min(high, height)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (stack[middle]! < first) low = middle + 1
      else high = middle
    }
    hint = low
    if (low < height) extremes[i] = items[stack[low]!]!
  }
  return extremes
}
