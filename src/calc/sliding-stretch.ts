import { never } from '../errors/tidemark-error.ts'
import { lowerBound, type PointColumns, upperBound } from '../series/columns.ts'
import { isGood, type Side } from '../series/interpolate.ts'
import { ChordSums } from './chord-sums.ts'
import type { Chords } from './chords.ts'
import type { MovingWindow } from './moving-window.ts'
import type { Piece } from './series.ts'
import { slidingExtremes, slidingSums, slidingVariances, type Windows } from './sliding-folds.ts'
import { distinctTimes, indexesOf } from './sliding-indexes.ts'

/** What is worked out over each window. */
export const SLIDING_OPS = [
  'AVG',
  'MIN',
  'MAX',
  'COUNT',
  'NUMGOOD',
  'NUMBAD',
  'SUM',
  'STDDEV',
  'VAR',
  'DIFF',
] as const
export type SlidingOp = (typeof SLIDING_OPS)[number]

/** The input of moving windows over a stretch of time, in memory: all of it that any of them reaches. */
export interface SlidingInput {
  /** Ascending; each begins where the one before ends. */
  readonly pieces: readonly Piece[]
  /** Their raw points. */
  readonly raw: PointColumns
  /** The signal as integrals take it; only for AVG. */
  readonly chords: Chords | null
  /** Where the last good point's hold ends, which is no raw point but can be the top of a slope. */
  readonly now: number
}

/** The aggregate of each window at ascending times, from memory; what it prepares is kept for the next times. */
export function slidingValues(
  op: SlidingOp,
  window: MovingWindow,
  input: SlidingInput,
): (times: Float64Array, side: Side) => Float64Array {
  switch (op) {
    case 'AVG':
      return averages(window, input)
    case 'MIN':
      return extremes(window, input, 'min')
    case 'MAX':
      return extremes(window, input, 'max')
    case 'COUNT':
    case 'NUMGOOD':
    case 'NUMBAD':
      return counts(window, input.raw, op)
    case 'SUM':
      return sums(window, input.raw)
    case 'STDDEV':
    case 'VAR':
      return deviations(window, input.raw, op)
    case 'DIFF':
      return (times, side) => {
        const last = inputValues(input.pieces, times, side)
        const first = inputValues(input.pieces, startsOf(window, times, side), side)
        return last.map((value, i) => finite(value - first[i]!))
      }
    default:
      return never(op)
  }
}

type Evaluate = (times: Float64Array, side: Side) => Float64Array

function counts(window: MovingWindow, raw: PointColumns, op: 'COUNT' | 'NUMGOOD' | 'NUMBAD'): Evaluate {
  const countGood = goodIn(raw)
  return (times, side) => {
    const { first, end } = windowsOf(window, raw.times, times, side)
    return times.map((_, i) => {
      const all = end[i]! - first[i]!
      if (op === 'COUNT') return all
      const numGood = countGood(first[i]!, end[i]!)
      return op === 'NUMGOOD' ? numGood : all - numGood
    })
  }
}

function sums(window: MovingWindow, raw: PointColumns): Evaluate {
  const countGood = goodIn(raw)
  const values = raw.values.map((value, i) => (isGood(raw, i) ? value : Number.NaN))
  return (times, side) => {
    const windows = windowsOf(window, raw.times, times, side)
    const { first, end } = windows
    return slidingSums(values, windows).map((sum, i) =>
      countGood(first[i]!, end[i]!) > 0 ? finite(sum) : Number.NaN,
    )
  }
}

/** Counts good points between two indexes. */
function goodIn(raw: PointColumns): (first: number, end: number) => number {
  const good = new Uint32Array(raw.times.length + 1)
  for (let i = 0; i < raw.times.length; i++) good[i + 1] = good[i]! + Number(isGood(raw, i))
  return (first, end) => good[end]! - good[first]!
}

function deviations(window: MovingWindow, raw: PointColumns, op: 'STDDEV' | 'VAR'): Evaluate {
  const points = {
    counts: raw.times.map((_, i) => Number(isGood(raw, i))),
    means: raw.values,
    squares: new Float64Array(raw.times.length),
  }
  return (times, side) =>
    slidingVariances(points, windowsOf(window, raw.times, times, side)).map((variance) =>
      finite(op === 'VAR' ? variance : Math.sqrt(variance)),
    )
}

/**
 * Of the signal at its raw points, its limits from the left there, and its values at both ends: between raw points it has
 * no others that lie further out.
 */
function extremes(window: MovingWindow, { pieces, now }: SlidingInput, which: 'min' | 'max'): Evaluate {
  const pick = which === 'min' ? smaller : larger
  const knots: number[] = []
  const items: number[] = []
  for (const piece of pieces) {
    const times = knotsOf(piece, now)
    const at = piece.valuesAt(times, 'at')
    const before = piece.valuesAt(times, 'before')
    for (let i = 0; i < times.length; i++) {
      knots.push(times[i]!)
      items.push(pick(at[i]!, before[i]!))
    }
  }
  const knotTimes = Float64Array.from(knots)
  const knotItems = Float64Array.from(items)
  return (times, side) => {
    const inside = slidingExtremes(knotItems, windowsOf(window, knotTimes, times, side), which)
    const last = inputValues(pieces, times, side)
    const first = inputValues(pieces, startsOf(window, times, side), side)
    return inside.map((value, i) => pick(value, pick(first[i]!, last[i]!)))
  }
}

/** The raw times of a piece, and `now` where a hold ends there: what slopes up to it has its top there. */
export function knotsOf(piece: Piece, now: number): Float64Array {
  const { raw, from, to } = piece
  if (now < from || now >= to) return raw.times
  const at = lowerBound(raw.times, now)
  if (raw.times[at] === now) return raw.times
  const [last, after] = piece.valuesAt(Float64Array.of(now, now + 1), 'at')
  if (Number.isNaN(last) || !Number.isNaN(after)) return raw.times
  const times = new Float64Array(raw.times.length + 1)
  times.set(raw.times.subarray(0, at))
  times[at] = now
  times.set(raw.times.subarray(at), at + 1)
  return times
}

/** Of two the smaller; NaN only when both are. */
export function smaller(a: number, b: number): number {
  return a <= b || Number.isNaN(b) ? a : b
}

export function larger(a: number, b: number): number {
  return a >= b || Number.isNaN(b) ? a : b
}

/** Time-weighted means of the signal over the part of each window where it has a value. */
function averages(window: MovingWindow, { pieces, chords }: SlidingInput): Evaluate {
  const sums = chords === null ? null : new ChordSums(chords)
  return (times, side) => {
    const means = new Float64Array(times.length).fill(Number.NaN)
    if (sums === null) return means
    const { integrals, coveredUs } = sums.between(startsOf(window, times, side), times)
    const uncovered: number[] = []
    for (let i = 0; i < times.length; i++) {
      if (coveredUs[i] === 0) uncovered.push(i)
      else means[i] = finite(integrals[i]! / coveredUs[i]!)
    }
    // Where the signal has just begun, the part of the window that has some is that instant.
    const at = Float64Array.from(uncovered, (i) => times[i]!)
    const values = inputValues(pieces, at, side)
    uncovered.forEach((i, n) => {
      means[i] = values[n]!
    })
    return means
  }
}

function startsOf(window: MovingWindow, times: Float64Array, side: Side): Float64Array {
  return side === 'at' ? window.startsFor(times) : times.map((t) => window.startBefore(t))
}

/**
 * The items of each window (t - length, t]. Approached from the left, and since raw times are whole microseconds, that is
 * the window of one microsecond before.
 */
function windowsOf(window: MovingWindow, items: Float64Array, times: Float64Array, side: Side): Windows {
  const ends = side === 'at' ? times : times.map((t) => t - 1)
  return { first: indexesOf(items, window.startsFor(ends), 'after'), end: indexesOf(items, ends, 'after') }
}

/** Values of the input at any times within its pieces, in any order. */
export function inputValues(pieces: readonly Piece[], times: Float64Array, side: Side): Float64Array {
  if (!ascends(times)) {
    const distinct = distinctTimes(times)
    const found = inputValues(pieces, distinct, side)
    return times.map((time) => found[lowerBound(distinct, time)]!)
  }
  const values = new Float64Array(times.length).fill(Number.NaN)
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    const end = isLast ? upperBound(times, piece.to) : lowerBound(times, piece.to)
    if (end <= at) continue
    values.set(piece.valuesAt(times.subarray(at, end), side), at)
    at = end
  }
  return values
}

function ascends(times: Float64Array): boolean {
  for (let i = 1; i < times.length; i++) if (times[i]! <= times[i - 1]!) return false
  return true
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN
}
