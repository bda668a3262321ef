import type { Side } from '../series/interpolate.ts'
import { answer, type Comparison } from './comparison.ts'

/** Both values of a comparison at some times. */
export interface Pair {
  readonly a: Float64Array
  readonly b: Float64Array
}

/** A stretch in which two series go straight, from its first instant to the limit from the left at its last. */
export interface Stretch {
  readonly start: number
  readonly end: number
  readonly startA: number
  readonly startB: number
  readonly endA: number
  readonly endB: number
}

/** Values of both series at ascending times. */
export type ReadPair = (times: Float64Array, side: Side) => Pair

/** Part of a stretch at whose ends the answers differ; it has one change, as far as one can tell. */
interface Bracket {
  low: number
  high: number
  readonly answer: number
  /** Where the change is by the lines. */
  readonly guess: number
  step: number
  lowMoved: boolean
  highMoved: boolean
}

/**
 * The first whole microseconds at which the answer to a comparison has changed, within stretches: after the first instant
 * of each and up to its last. What one microsecond before the change and the change itself are, the series say; the lines
 * only say where to look.
 * @param stretches  ascending, not overlapping
 * @param read       values inside the stretches
 */
export function findChanges(
  comparison: Comparison,
  stretches: readonly Stretch[],
  read: ReadPair,
): readonly number[] {
  const brackets = bracketsOf(comparison, stretches, read)
  let open = brackets.filter(isOpen)
  while (open.length > 0) {
    const probes = Float64Array.from(open, probeOf)
    const { a, b } = read(probes, 'at')
    open.forEach((bracket, i) => {
      narrow(bracket, probes[i]!, answer(comparison, a[i]!, b[i]!))
    })
    open = open.filter(isOpen)
  }
  return brackets.map(({ high }) => high)
}

function isOpen({ low, high }: Bracket): boolean {
  return high - low > 1
}

/** Where the lines have it, then in growing steps from there until the change lies between two probes, then halving. */
function probeOf({ low, high, guess, step, lowMoved, highMoved }: Bracket): number {
  if (lowMoved && highMoved) return Math.floor(low + (high - low) / 2)
  if (highMoved) return Math.max(low + 1, high - step)
  if (lowMoved) return Math.min(high - 1, low + step)
  const first = Number.isFinite(guess) ? Math.ceil(guess) : Math.floor(low + (high - low) / 2)
  return Math.min(Math.max(first, low + 1), high - 1)
}

function narrow(bracket: Bracket, probe: number, found: number): void {
  if (bracket.lowMoved !== bracket.highMoved) bracket.step *= 4
  if (found === bracket.answer) {
    bracket.low = probe
    bracket.lowMoved = true
  } else {
    bracket.high = probe
    bracket.highMoved = true
  }
}

function bracketsOf(comparison: Comparison, stretches: readonly Stretch[], read: ReadPair): Bracket[] {
  const crossed = stretches.flatMap((stretch) => {
    const roots = rootsOf(comparison, stretch)
    return roots.length === 0 ? [] : [{ stretch, roots, middles: middlesOf(stretch, roots) }]
  })
  const middles = Float64Array.from(crossed.flatMap(({ middles }) => middles))
  const { a, b } = read(middles, 'at')
  const brackets: Bracket[] = []
  let next = 0
  for (const { stretch, roots, middles } of crossed) {
    const { start, end, startA, startB, endA, endB } = stretch
    const samples = [
      { time: start, answer: answer(comparison, startA, startB) },
      ...middles.map((time) => ({ time, answer: answer(comparison, a[next]!, b[next++]!) })),
      { time: end, answer: answer(comparison, endA, endB) },
    ]
    for (let i = 1; i < samples.length; i++) {
      const [low, high] = [samples[i - 1]!, samples[i]!]
      if (low.answer === high.answer || Number.isNaN(low.answer) || Number.isNaN(high.answer)) continue
      brackets.push({
        low: low.time,
        high: high.time,
        answer: low.answer,
        guess: roots.find((root) => root >= low.time && root <= high.time) ?? Number.NaN,
        step: 1,
        lowMoved: false,
        highMoved: false,
      })
    }
  }
  return brackets
}

/** Where the lines have a gap of zero, ascending; NaN last where that cannot be told. */
function rootsOf({ gaps }: Comparison, stretch: Stretch): readonly number[] {
  const { start, end, startA, startB, endA, endB } = stretch
  const roots: number[] = []
  for (const gap of gaps) {
    const first = gap(startA, startB)
    const last = gap(endA, endB)
    if (first === last || !changesSign(first, last)) continue
    roots.push(start + (end - start) * shareOf(first, last))
  }
  return roots.sort((a, b) => a - b)
}

/** Between the edges of a band, which may be entered and left within one stretch. */
function middlesOf({ start, end }: Stretch, [first, second]: readonly number[]): readonly number[] {
  if (first === undefined || second === undefined) return []
  const middle = first + (second - first) / 2
  const inside = (time: number) => time > start && time < end
  return [...new Set([Math.floor(middle), Math.ceil(middle)])].filter(inside)
}

/**
 * Whether lines through two values one microsecond apart have the change nearer to the first: then what comes between the
 * two is already what comes after it, and the first is the last instant of what was. An end that lies on a whole
 * microsecond is the usual case, since a comparison such as a >= b still holds there.
 */
export function isEarly({ gaps }: Comparison, a1: number, b1: number, a2: number, b2: number): boolean {
  for (const gap of gaps) {
    const first = gap(a1, b1)
    const last = gap(a2, b2)
    if (first !== last && changesSign(first, last)) return shareOf(first, last) < 0.5
  }
  return false
}

function changesSign(first: number, last: number): boolean {
  return (first <= 0 && last >= 0) || (first >= 0 && last <= 0)
}

/** How far from one value to another, of the other sign, zero lies; 0 to 1. */
function shareOf(first: number, last: number): number {
  // Halved first: the difference of two large values can leave the range of doubles.
  return first / 2 / (first / 2 - last / 2)
}
