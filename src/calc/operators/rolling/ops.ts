import type { AggregateColumns, AggregateName } from '../../../series/aggregate-names.ts'
import type { Integrals } from '../../../series/reads.ts'
import { larger, smaller, type Windows, windowExtremes, windowSums, windowVariances } from './folds.ts'

/** What is known of many windows; an operation finds only what it needs. */
export interface WindowParts extends Integrals {
  /** Aggregates of the raw points of cells, by name; `min` and `max` may be of the signal there. */
  readonly cells: AggregateColumns
  /** Which cells make up each window. */
  readonly windows: Windows
  /** The signal where each window starts, and where it ends. */
  readonly first: Float64Array
  readonly last: Float64Array
}

/** An operation over rolling windows: what it takes of the input, and how one value for each window is made of it. */
export interface RollingOp {
  /** The integral of each window. */
  readonly integrals?: true
  /** Aggregates of cells. */
  readonly cells?: readonly AggregateName[]
  /** The least or greatest value of the signal inside each cell, as the aggregate of that name. */
  readonly extreme?: 'min' | 'max'
  /** The signal at both bounds of each window; or only at the end, and only where the signal has no value before. */
  readonly bounds?: 'both' | 'end of uncovered'
  /** Set where there is no value without one of the signal where the window starts. */
  readonly ofStart?: true
  /** Of a constant it differs with the length of the window. */
  readonly ofLength?: true
  /** Set where a window in which the input has no value has one: a count, or a total of 0. */
  readonly ofNothing?: true
  /** A column of its own, not one of the parts. What is not finite in it is no value. */
  readonly fold: (parts: WindowParts) => Float64Array
}

/** The operations of SLIDINGAGG, in the order of the reference. */
export const SLIDING_OPS = {
  AVG: {
    integrals: true,
    // Where the signal has just begun, the part of the window that has some is that instant.
    bounds: 'end of uncovered',
    fold: ({ integrals, coveredUs, last }) =>
      integrals.map((integral, i) => (coveredUs[i]! > 0 ? integral / coveredUs[i]! : last[i]!)),
  },
  MIN: extreme('min'),
  MAX: extreme('max'),
  COUNT: count('count'),
  NUMGOOD: count('numGood'),
  NUMBAD: count('numBad'),
  SUM: {
    cells: ['sum'],
    fold: ({ cells, windows }) => {
      const sums = windowSums(cells.sum!, windows)
      const filled = filledCells(cells.sum!)
      // A loop, as in all that is done for each of a million windows: a function called for each takes as long as a
      // sum.
      for (let i = 0; i < sums.length; i++) {
        const [first, end] = [windows.first[i]!, windows.end[i]!]
        if (!(first < end && filled[end]! > filled[first]!)) sums[i] = Number.NaN
      }
      return sums
    },
  },
  STDDEV: { cells: ['numGood', 'avg', 'variance'], fold: (parts) => variances(parts).map(Math.sqrt) },
  VAR: { cells: ['numGood', 'avg', 'variance'], fold: variances },
  DIFF: {
    bounds: 'both',
    ofStart: true,
    fold: ({ first, last }) => last.map((value, i) => value - first[i]!),
  },
  /** In microseconds, until it is divided by its unit. */
  TOTAL: {
    integrals: true,
    ofLength: true,
    // 0 where the signal has just begun, nothing where it has no value.
    bounds: 'end of uncovered',
    fold: ({ integrals, coveredUs, last }) =>
      integrals.map((integral, i) => (coveredUs[i]! > 0 ? integral : 0 * last[i]!)),
  },
} as const satisfies { readonly [name: string]: RollingOp }

export type SlidingOp = keyof typeof SLIDING_OPS

/** An operation of SLIDINGAGG. @param unitUs of TOTAL; 1 for others */
export function slidingOp(op: SlidingOp, unitUs: number): RollingOp {
  const rule: RollingOp = SLIDING_OPS[op]
  if (unitUs === 1) return rule
  return { ...rule, fold: (parts) => rule.fold(parts).map((value) => value / unitUs) }
}

/** The integral over the window. @param rateUs what it is divided by */
export function totalOp(rateUs: number): RollingOp {
  const fold = ({ integrals }: WindowParts) => integrals.map((integral) => integral / rateUs)
  return { integrals: true, ofNothing: true, fold }
}

function count(name: 'count' | 'numGood' | 'numBad'): RollingOp {
  return { cells: [name], ofNothing: true, fold: ({ cells, windows }) => windowSums(cells[name]!, windows) }
}

function extreme(which: 'min' | 'max'): RollingOp {
  const pick = which === 'min' ? smaller : larger
  return {
    extreme: which,
    bounds: 'both',
    fold: ({ cells, windows, first, last }) =>
      windowExtremes(cells[which]!, windows, which).map((value, i) => pick(value, pick(first[i]!, last[i]!))),
  }
}

/** How many cells before each index have a value. */
function filledCells(cells: Float64Array): Int32Array {
  const filled = new Int32Array(cells.length + 1)
  for (let k = 0; k < cells.length; k++) filled[k + 1] = filled[k]! + Number(!Number.isNaN(cells[k]!))
  return filled
}

/** Sample variances. */
function variances({ cells, windows }: WindowParts): Float64Array {
  const { numGood, avg, variance } = cells
  const squares = new Float64Array(variance!.length)
  for (let i = 0; i < squares.length; i++) {
    const count = numGood![i]!
    if (count > 1) squares[i] = variance![i]! * (count - 1)
  }
  return windowVariances({ counts: numGood!, means: avg!, squares }, windows)
}

/** Results with no value where they are not finite, in place. */
export function finite(values: Float64Array): Float64Array {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i]!)) values[i] = Number.NaN
  return values
}
