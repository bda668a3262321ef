import { comparedName } from '../calc/leaves/stored-cost.ts'
import { upperBound } from '../series/columns.ts'
import type { Comparisons } from '../series/reads.ts'
import type { CountedRange } from './near-search.ts'

/** A read within a range of a tag. */
export interface RangeRead {
  readonly tag: string
  /** Set where points that make no difference to these are left out. */
  readonly compared?: Comparisons | undefined
  readonly range: CountedRange
  /** Raw points that it needs of the range, at most: all of them, or a page. */
  readonly count: number
  readonly isWhole: boolean
}

/** Ranges of one tag that overlap, as one: what lies in it is fetched once, whichever reads need it. */
export interface SharedRange<Read> extends CountedRange {
  readonly tag: string
  readonly compared?: Comparisons | undefined
  readonly reads: readonly Read[]
  /**
   * The pages among them, those that overlap together: as they may be on their way at the same time, each fetches again
   * what it has in common with others of them.
   */
  readonly pages: readonly (readonly Read[])[]
  /** Those that lie within another one, both of their ends, and are read as a whole. */
  readonly inner: ReadonlySet<Read>
  /** All raw points in it, where it is the range of one of its reads; else `null`. */
  readonly count: number | null
}

/** Joins ranges that are read as a whole and overlap, tag by tag, with the pages that lie in them. */
export function sharedRanges<Read extends RangeRead>(reads: readonly Read[]): readonly SharedRange<Read>[] {
  const byTag = Map.groupBy(reads, ({ tag, compared }) =>
    compared === undefined ? tag : `${comparedName(compared)}\0${tag}`,
  )
  if (byTag.size === reads.length) return []
  return [...byTag.values()].flatMap(sharedOfTag)
}

function sharedOfTag<Read extends RangeRead>(reads: readonly Read[]): readonly SharedRange<Read>[] {
  if (reads.length < 2) return []
  const joined: (CountedRange & { reads: Read[]; inner: Set<Read> })[] = []
  const wholes = reads.filter(({ isWhole }) => isWhole)
  // Of those that begin together the shortest first: none of them lies within another.
  wholes.sort((a, b) => a.range.from - b.range.from || a.range.to - b.range.to)
  for (const read of wholes) {
    const { from, to } = read.range
    const last = joined.at(-1)
    if (last === undefined || from >= last.to) joined.push({ from, to, reads: [read], inner: new Set() })
    else {
      last.reads.push(read)
      if (from > last.from && to < last.to) last.inner.add(read)
      if (to > last.to) joined[joined.length - 1] = { ...last, to }
    }
  }
  const starts = Float64Array.from(joined, ({ from }) => from)
  for (const page of reads) {
    if (page.isWhole) continue
    const around = joined[upperBound(starts, page.range.from) - 1]
    if (around !== undefined && page.range.to <= around.to) around.reads.push(page)
  }
  return joined
    .filter((all) => all.reads.length > 1)
    .map((all) => ({
      ...all,
      tag: all.reads[0]!.tag,
      compared: all.reads[0]!.compared,
      pages: overlapping(all.reads.filter(({ isWhole }) => !isWhole)),
      count: all.reads.find((read) => isAllOf(read, all))?.count ?? null,
    }))
}

function overlapping<Read extends RangeRead>(pages: readonly Read[]): readonly (readonly Read[])[] {
  const groups: Read[][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const page of pages.toSorted((a, b) => a.range.from - b.range.from)) {
    const { from, to } = page.range
    if (from < end) groups.at(-1)!.push(page)
    else groups.push([page])
    end = Math.max(end, to)
  }
  return groups
}

function isAllOf({ range, isWhole }: RangeRead, { from, to }: CountedRange): boolean {
  return isWhole && range.from === from && range.to === to
}
