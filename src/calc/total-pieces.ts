import { lowerBound, type PointColumns, STATUS_BAD, upperBound } from '../series/columns.ts'
import { type Side, valueBetween } from '../series/interpolate.ts'
import { CompensatedSum } from '../series/sum.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import type { LaidWindows } from '../time/total-windows.ts'
import { type Chords, KNOT_BAD, KNOT_NO_POINT } from './chords.ts'
import type { Piece } from './series.ts'

/** A total where a stretch begins: its value there, and its limit from the left, which differs at the start of a window. */
export interface TotalBase {
  readonly at: number
  readonly before: number
}

/** A total over a stretch: chords of its input cut at the starts of windows, with the running total at each knot. */
export interface TotalStretch {
  readonly times: Float64Array
  /** Value of the input at each knot, and its limit from the left at the next one. */
  readonly inputAt: Float64Array
  readonly inputBefore: Float64Array
  /** Total at each knot, in the input's unit times microseconds, and its limit from the left. */
  readonly totalAt: Float64Array
  readonly totalBefore: Float64Array
}

/**
 * Adds up chords over [from, to], which lies inside them.
 * @param windowStarts  those in (from, to], ascending
 */
export function accumulate(
  chords: Chords,
  from: Instant,
  to: Instant,
  windowStarts: Float64Array,
  base: TotalBase,
): TotalStretch {
  const first = upperBound(chords.times, from)
  const last = lowerBound(chords.times, to)
  const times = mergeKnots(from, to, chords.times.subarray(first, last), windowStarts)
  const length = times.length
  const stretch = {
    times,
    inputAt: new Float64Array(length).fill(Number.NaN),
    inputBefore: new Float64Array(length).fill(Number.NaN),
    totalAt: new Float64Array(length),
    totalBefore: new Float64Array(length),
  }
  const sum = new CompensatedSum()
  sum.add(base.at)
  stretch.totalAt[0] = base.at
  stretch.totalBefore[0] = base.before
  let chord = first - 1
  let nextStart = 0
  for (let k = 0; k + 1 < length; k++) {
    const time1 = times[k]!
    const time2 = times[k + 1]!
    while (chords.times[chord + 1]! <= time1) chord++
    const value1 = onChord(chords, chord, time1)
    const value2 = onChord(chords, chord, time2)
    stretch.inputAt[k] = value1
    stretch.inputBefore[k + 1] = value2
    if (!Number.isNaN(value1)) sum.add((time2 - time1) * (value1 / 2 + value2 / 2))
    stretch.totalBefore[k + 1] = sum.value
    if (time2 === windowStarts[nextStart]) {
      sum.reset()
      nextStart++
    }
    stretch.totalAt[k + 1] = sum.value
  }
  return stretch
}

/** Value on one chord, its ends included; NaN where the signal has none. */
function onChord({ times, at, before }: Chords, chord: number, time: number): number {
  const value1 = at[chord]!
  const value2 = before[chord + 1]!
  if (Number.isNaN(value1) || Number.isNaN(value2)) return Number.NaN
  return valueBetween(time, times[chord]!, value1, times[chord + 1]!, value2)
}

/** The total as a piece. @param rateUs what totals are divided by; @param ends raw points at the ends of a request's range */
export function totalPiece(
  stretch: TotalStretch,
  chords: Chords,
  windowStarts: Float64Array,
  layout: LaidWindows,
  rateUs: number,
  ends: readonly number[],
): Piece {
  const { times } = stretch
  const from = instantFromUs(times[0]!)
  const to = instantFromUs(times.at(-1)!)
  const extra = ends.filter((at) => at >= from && at < to)
  for (const start of [...windowStarts, layout.startAt(from) === from ? from : Number.NaN]) {
    if (start < to) extra.push(start)
    if (start - 1 >= from) extra.push(start - 1)
  }
  // A window that is about to begin where the piece ends has its last microsecond inside.
  if (layout.startAt(to) === to && to - 1 >= from) extra.push(to - 1)
  const raw = rawOf(chords, from, to, extra)
  const valuesAt = (at: Float64Array, side: Side) => totalsAt(stretch, at, side, rateUs)
  const values = valuesAt(raw.times, 'at')
  for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) raw.statuses[i] = STATUS_BAD
  return { from, to, raw: { ...raw, values }, valuesAt }
}

/** Times and statuses of the raw points in [from, to): those of the input and others. */
function rawOf(
  { times, kinds }: Chords,
  from: Instant,
  to: Instant,
  others: readonly number[],
): PointColumns {
  const raw = new Map<number, number>()
  for (const time of others) raw.set(time, KNOT_NO_POINT)
  const all: number[] = []
  for (let i = lowerBound(times, from); i < lowerBound(times, to); i++) {
    if (kinds[i] === KNOT_NO_POINT) continue
    if (raw.has(times[i]!)) raw.set(times[i]!, kinds[i]!)
    else all.push(i)
  }
  const joined = new Float64Array(all.length + raw.size)
  for (let i = 0; i < all.length; i++) joined[i] = times[all[i]!]!
  joined.set([...raw.keys()], all.length)
  if (raw.size > 0) joined.sort()
  const statuses = new Uint8Array(joined.length)
  let knot = 0
  for (let i = 0; i < joined.length; i++) {
    while (knot < times.length && times[knot]! < joined[i]!) knot++
    if (times[knot] === joined[i] && kinds[knot] === KNOT_BAD) statuses[i] = STATUS_BAD
  }
  return { times: joined, values: new Float64Array(joined.length), statuses }
}

function totalsAt(stretch: TotalStretch, at: Float64Array, side: Side, rateUs: number): Float64Array {
  const { times, inputAt, inputBefore, totalAt, totalBefore } = stretch
  const totals = new Float64Array(at.length)
  // The knot at or before the first time; from there on it only moves forward.
  let knot = at.length === 0 ? 0 : Math.max(0, upperBound(times, at[0]!) - 1)
  for (let i = 0; i < at.length; i++) {
    const time = at[i]!
    while (knot + 1 < times.length && times[knot + 1]! <= time) knot++
    let total: number
    if (times[knot] === time) total = side === 'at' ? totalAt[knot]! : totalBefore[knot]!
    else {
      const value1 = inputAt[knot]!
      total = totalAt[knot]!
      if (!Number.isNaN(value1)) {
        const time1 = times[knot]!
        const value = valueBetween(time, time1, value1, times[knot + 1]!, inputBefore[knot + 1]!)
        total += (time - time1) * (value1 / 2 + value / 2)
      }
    }
    const result = total / rateUs
    totals[i] = Number.isFinite(result) ? result : Number.NaN
  }
  return totals
}

/** `from`, `to` and all between them, ascending, each once. */
function mergeKnots(from: number, to: number, a: Float64Array, b: Float64Array): Float64Array {
  if (b.length === 0) {
    const knots = new Float64Array(a.length + 2)
    knots[0] = from
    knots.set(a, 1)
    knots[a.length + 1] = to
    return knots
  }
  const knots = new Set([from, ...a, ...b, to])
  return Float64Array.from(knots).sort()
}
