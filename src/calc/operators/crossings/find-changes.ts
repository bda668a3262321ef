import type { Evaluation } from '../../graph/evaluation.ts'
import { answer, type Comparison } from './comparison.ts'

/** Both values of a comparison at some times. */
export interface Pair {
  readonly a: Float64Array
  readonly b: Float64Array
}

/** Values of both inputs, or their limits from the left, at ascending times. */
export type ReadPair = (times: Float64Array, limit: 'at' | 'before') => Pair

/** Segments of two linear inputs, each from its first instant to the limit from the left at its last. */
export interface PairSegments {
  /** Ascending; each segment ends at or before the start of the next. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  readonly first: Pair
  readonly last: Pair
}

/** Part of a segment at whose ends the answers differ; it has one change, as far as one can tell. */
interface Bracket {
  low: number
  high: number
  /** At `low`. */
  readonly answer: number
  /** Where the change is by the lines. */
  readonly guess: number
  step: number
  lowMoved: boolean
  highMoved: boolean
}

/**
 * Segments of what bends, cut to the part that has answers: one in which they begin or end, as at the end of the last
 * window with points in it, is searched by bisection for the first or last instant that has one.
 */
export async function answeredSegments(
  comparison: Comparison,
  segments: PairSegments,
  read: ReadPair,
  evaluation: Evaluation,
): Promise<PairSegments> {
  const edges = edgesOf(comparison, segments)
  if (edges.length === 0) return segments
  let open = edges.filter(isApart)
  while (open.length > 0) {
    const probes = Float64Array.from(open, ({ valued, empty }) => valued + Math.trunc((empty - valued) / 2))
    const { a, b } = read(probes, 'at')
    open.forEach((edge, i) => {
      if (Number.isNaN(answer(comparison, a[i]!, b[i]!))) edge.empty = probes[i]!
      else edge.valued = probes[i]!
    })
    open = open.filter(isApart)
    await evaluation.pause()
  }
  return cutAt(segments, edges, read)
}

/**
 * Root finding: the first whole microseconds at which the answer to a comparison has changed, within segments: after
 * the first instant of each and up to its last. What the answer is one microsecond before the change and at the change
 * itself, the inputs say; the closed form of the lines only says where to look.
 * @param read values inside the segments
 */
export async function findChanges(
  comparison: Comparison,
  segments: PairSegments,
  read: ReadPair,
  evaluation: Evaluation,
): Promise<readonly number[]> {
  const brackets = bracketsOf(comparison, segments, read)
  let open = brackets.filter(isOpen)
  while (open.length > 0) {
    const probes = Float64Array.from(open, probeOf)
    const { a, b } = read(probes, 'at')
    open.forEach((bracket, i) => {
      narrow(bracket, probes[i]!, answer(comparison, a[i]!, b[i]!))
    })
    open = open.filter(isOpen)
    await evaluation.pause()
  }
  return brackets.map(({ high }) => high)
}

/**
 * Whether lines through two values one microsecond apart have the change nearer to the first: then what comes between
 * the two is already what comes after it, and the first is the last instant of what was. An end that lies on a whole
 * microsecond is the usual case, since a comparison such as a >= b still holds there.
 */
export function isEarly({ gaps }: Comparison, a1: number, b1: number, a2: number, b2: number): boolean {
  for (const gap of gaps) {
    const first = gap(a1, b1)
    const last = gap(a2, b2)
    if (changesSign(first, last)) return shareOf(first, last) < 0.5
  }
  return false
}

/** Where a segment has answers on one side only: an instant with one, and one further on without. */
interface Edge {
  readonly index: number
  readonly isEnd: boolean
  valued: number
  empty: number
}

function edgesOf(comparison: Comparison, { starts, ends, first, last }: PairSegments): Edge[] {
  const edges: Edge[] = []
  for (let index = 0; index < starts.length; index++) {
    const begins = !Number.isNaN(answer(comparison, first.a[index]!, first.b[index]!))
    if (begins === !Number.isNaN(answer(comparison, last.a[index]!, last.b[index]!))) continue
    const [valued, empty] = begins ? [starts[index]!, ends[index]!] : [ends[index]!, starts[index]!]
    edges.push({ index, isEnd: begins, valued, empty })
  }
  return edges
}

function isApart({ valued, empty }: Edge): boolean {
  return Math.abs(empty - valued) > 1
}

function cutAt(segments: PairSegments, edges: readonly Edge[], read: ReadPair): PairSegments {
  const cut = edges.filter(({ index, isEnd, valued }) => {
    return valued !== (isEnd ? segments.starts[index]! : segments.ends[index]!)
  })
  if (cut.length === 0) return segments
  const copy = ({ a, b }: Pair): Pair => ({ a: a.slice(), b: b.slice() })
  const found = {
    starts: segments.starts.slice(),
    ends: segments.ends.slice(),
    first: copy(segments.first),
    last: copy(segments.last),
  }
  const { a, b } = read(
    Float64Array.from(cut, ({ valued }) => valued),
    'at',
  )
  for (const [i, { index, isEnd, valued }] of cut.entries()) {
    const [times, pair] = isEnd ? [found.ends, found.last] : [found.starts, found.first]
    times[index] = valued
    pair.a[index] = a[i]!
    pair.b[index] = b[i]!
  }
  return found
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

function bracketsOf(comparison: Comparison, segments: PairSegments, read: ReadPair): Bracket[] {
  const crossed = crossedOf(comparison, segments)
  const { starts, ends, first, last } = segments
  const inside = Float64Array.from(crossed.flatMap(({ middles }) => middles))
  const { a, b } = read(inside, 'at')
  const brackets: Bracket[] = []
  let next = 0
  for (const { index, roots, middles } of crossed) {
    let low = starts[index]!
    let before = answer(comparison, first.a[index]!, first.b[index]!)
    const close = (high: number, after: number): void => {
      if (before !== after && !Number.isNaN(before) && !Number.isNaN(after)) {
        const guess = roots.find((root) => root >= low && root <= high) ?? Number.NaN
        brackets.push({ low, high, answer: before, guess, step: 1, lowMoved: false, highMoved: false })
      }
      low = high
      before = after
    }
    for (const middle of middles) {
      close(middle, answer(comparison, a[next]!, b[next]!))
      next++
    }
    close(ends[index]!, answer(comparison, last.a[index]!, last.b[index]!))
  }
  return brackets
}

/** A segment in which the lines cross. */
interface Crossed {
  /** Of the segment. */
  readonly index: number
  /** Where the lines have a gap of zero, ascending. */
  readonly roots: readonly number[]
  readonly middles: readonly number[]
}

function crossedOf({ gaps }: Comparison, { starts, ends, first, last }: PairSegments): readonly Crossed[] {
  const crossed: Crossed[] = []
  for (let index = 0; index < starts.length; index++) {
    let roots: number[] | null = null
    for (const gap of gaps) {
      const from = gap(first.a[index]!, first.b[index]!)
      const to = gap(last.a[index]!, last.b[index]!)
      if (!changesSign(from, to)) continue
      const root = starts[index]! + (ends[index]! - starts[index]!) * shareOf(from, to)
      if (roots === null) roots = [root]
      else roots.push(root)
    }
    if (roots === null) continue
    if (roots.length > 1) roots.sort((a, b) => a - b)
    crossed.push({ index, roots, middles: middlesOf(starts[index]!, ends[index]!, roots) })
  }
  return crossed
}

const NO_TIMES: readonly number[] = []

/** Between the edges of a band, which may be entered and left within one segment. */
function middlesOf(start: number, end: number, [first, second]: readonly number[]): readonly number[] {
  if (first === undefined || second === undefined) return NO_TIMES
  const middle = first + (second - first) / 2
  const inside = (time: number) => time > start && time < end
  return [...new Set([Math.floor(middle), Math.ceil(middle)])].filter(inside)
}

function changesSign(first: number, last: number): boolean {
  return first !== last && ((first <= 0 && last >= 0) || (first >= 0 && last <= 0))
}

/** How far from one value to another, of the other sign, zero lies; 0 to 1. */
function shareOf(first: number, last: number): number {
  // Halved first: the difference of two large values can leave the range of doubles.
  return first / 2 / (first / 2 - last / 2)
}
