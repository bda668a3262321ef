import { copyColumns, lowerBoundFrom, makeColumns, type PointColumns } from '../../series/columns.ts'

/** [from, to) of a tag's time, in microseconds; infinite where it does not begin or end. */
export interface Span {
  readonly from: number
  readonly to: number
}

const NONE: readonly Span[] = []

/** Spans as those of them together: ascending, apart from each other. May be the argument. */
export function joinSpans(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans.length === 0 ? NONE : spans
  const joined: { from: number; to: number }[] = []
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined
}

/** Whether anything of [first, last] lies in spans that are joined. */
export function isCut(cuts: readonly Span[], first: number, last: number): boolean {
  const cut = firstEndingAfter(cuts, first)
  return cut < cuts.length && cuts[cut]!.from <= last
}

/** Whether all of [first, last] lies in one of spans that are joined. */
export function isWithin(cuts: readonly Span[], first: number, last: number): boolean {
  const cut = firstEndingAfter(cuts, first)
  return cut < cuts.length && cuts[cut]!.from <= first && cuts[cut]!.to > last
}

/** Points without those in spans that are joined; may be the argument. Takes time by the spans among the points. */
export function without(points: PointColumns, cuts: readonly Span[]): PointColumns {
  const { times } = points
  const count = times.length
  if (count === 0) return points
  const last = times[count - 1]!
  /** Where stretches that stay begin and end, in turn. */
  const stretches: number[] = []
  let start = 0
  let removed = 0
  for (let cut = firstEndingAfter(cuts, times[0]!); cut < cuts.length && cuts[cut]!.from <= last; cut++) {
    const end = lowerBoundFrom(times, cuts[cut]!.from, start)
    const next = lowerBoundFrom(times, cuts[cut]!.to, end)
    if (next === end) continue
    if (end > start) stretches.push(start, end)
    removed += next - end
    start = next
  }
  if (removed === 0) return points
  if (start < count) stretches.push(start, count)
  return copyStretches(points, stretches, count - removed)
}

function copyStretches(points: PointColumns, stretches: readonly number[], count: number): PointColumns {
  const copied = makeColumns(count)
  let at = 0
  for (let i = 0; i < stretches.length; i += 2) {
    const start = stretches[i]!
    const end = stretches[i + 1]!
    copyColumns(copied, at, points, start, end)
    at += end - start
  }
  return copied
}

/** Index of the first of joined spans that ends after an instant; how many there are without one. */
function firstEndingAfter(spans: readonly Span[], at: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle]!.to > at) high = middle
    else low = middle + 1
  }
  return low
}
