import { TidemarkError } from '../../errors/tidemark-error.ts'
import { furthest, hull, type Near } from './near.ts'
import type { ChunksNeed, Need, RawNeed } from './need.ts'

/**
 * Different needs of one kind that an operator keeps apart; more are put together, at the cost of their sum, which
 * doubles with each level of functions that read twice. Four places over 50 levels of windows are not put together.
 */
const MAX_NEEDS = 256
/** Overlapping ranges whose bounding values are counted: most of more ranges end where others do. */
const MAX_RANGES = 16

/**
 * Distinct needs of one operator. Ranges that are read as a whole are a set of disjoint intervals, since those that
 * overlap are fetched once.
 */
export class NeedSet {
  readonly #byKey = new Map<string, Need>()
  readonly #counts: Partial<Record<Need['kind'], number>> = {}
  // Made when they are used: each operator of each label has a set.
  #joined: Map<string, Need> | null = null
  /** Those that are read as a whole. */
  #ranges: Map<string, ChunksNeed> | null = null

  add(need: Need): void {
    const isRange = need.kind === 'chunks' && need.compared === undefined
    // Aggregates that a historian computes cost as much again at another place.
    const isApart = need.near !== undefined && (isRange || need.kind === 'aggregates')
    const key = isApart ? `${keyOfNeed(need)} ${placeKind(need.near)}` : keyOfNeed(need)
    if (isRange) {
      if (need.from >= need.to) return
      this.#ranges ??= new Map()
      const known = this.#ranges.get(key)
      const isMore = known === undefined || (known.ranges ?? 1) < (need.ranges ?? 1)
      this.#ranges.set(key, { ...(isMore ? need : known), near: furthestOf(known ?? need, need) })
      return
    }
    const known = this.#byKey.get(key)
    if (known !== undefined) {
      const isMore = known.kind === 'raw' && known.rawOnly === true && (need as RawNeed).rawOnly !== true
      if (need.near !== undefined || isMore)
        this.#byKey.set(key, { ...(isMore ? need : known), near: furthestOf(known, need) } as Need)
      return
    }
    const count = (this.#counts[need.kind] ?? 0) + 1
    if (count <= MAX_NEEDS) {
      this.#counts[need.kind] = count
      this.#byKey.set(key, need)
      return
    }
    // Needs of equal groups are put together.
    const group = need.kind === 'aggregates' ? `aggregates ${need.names}` : need.kind
    this.#joined ??= new Map()
    const others = this.#joined.get(group)
    const all: Need =
      others === undefined ? need : { ...joined(others, need), near: furthestOf(others, need) }
    this.#joined.set(group, all)
  }

  *all(): Generator<Need, void> {
    const ranges = [...(this.#ranges?.values() ?? [])]
    for (const some of Map.groupBy(ranges, ({ near }) => placeKind(near)).values()) yield* unionOf(some)
    for (const needs of [this.#byKey, this.#joined]) if (needs !== null) yield* needs.values()
  }
}

/** How the place of a need is known: those of one kind are moved together. Nothing is read before a floor. */
function placeKind(near: Near | undefined): 'known' | 'anywhere' | 'above a floor' {
  if (near === undefined) return 'known'
  return near.floor === undefined ? 'anywhere' : 'above a floor'
}

/** Intervals that touch or overlap as one, ascending. */
function unionOf(needs: readonly ChunksNeed[]): readonly ChunksNeed[] {
  if (needs.length < 2) return needs
  const union: ChunksNeed[] = []
  for (const need of needs.toSorted((a, b) => a.from - b.from)) {
    const last = union.at(-1)
    if (last === undefined || need.from > last.to) union.push(need)
    else union[union.length - 1] = together(last, need)
  }
  return union.length > MAX_NEEDS ? withoutShortGaps(union) : union
}

/** As many as are kept apart: those with the shortest gaps between them are put together. @param ranges ascending */
function withoutShortGaps(ranges: readonly ChunksNeed[]): readonly ChunksNeed[] {
  const gaps = ranges.slice(1).map(({ from }, i) => ({ index: i + 1, length: from - ranges[i]!.to }))
  gaps.sort((a, b) => a.length - b.length || a.index - b.index)
  const isClosed = new Uint8Array(ranges.length)
  for (const { index } of gaps.slice(0, ranges.length - MAX_NEEDS)) isClosed[index] = 1
  const union: ChunksNeed[] = []
  for (const [i, range] of ranges.entries()) {
    if (isClosed[i] === 1) union[union.length - 1] = together(union.at(-1)!, range)
    else union.push(range)
  }
  return union
}

function together(a: ChunksNeed, b: ChunksNeed): ChunksNeed {
  const beyond = Math.max(a.beyond, b.beyond)
  const [first, second] = [a.ranges ?? 1, b.ranges ?? 1]
  const ranges = Math.max(first, second, Math.min(MAX_RANGES, first + second))
  const rawOnly = a.rawOnly === true && b.rawOnly === true
  return { kind: 'chunks', ...hull(a, b), beyond, ranges, rawOnly, near: furthestOf(a, b) }
}

function keyOfNeed(need: Need): string {
  switch (need.kind) {
    case 'values':
    case 'integrals':
    case 'plot':
      return `${need.kind} ${need.from} ${need.to} ${need.count} ${need.key}`
    case 'gaps':
      return `gaps ${need.from} ${need.to} ${need.count} ${need.longerThanUs}`
    case 'aggregates':
      return `aggregates ${need.from} ${need.to} ${need.count} ${need.key} ${need.names} ${need.ranges ?? 1}`
    case 'current':
      return `current ${need.find} ${need.at}`
    case 'point':
      return `point ${need.find} ${need.at} ${need.count ?? 1} ${need.key ?? ''} ${need.timeOnly ?? ''}`
    case 'raw':
      return `raw ${need.from} ${need.to} ${need.order} ${need.count} ${need.isPage ?? ''}`
    case 'chunks':
      return `chunks ${need.from} ${need.to} ${need.beyond} ${need.ranges ?? 1} ${need.rawOnly ?? ''} ${need.compared ?? ''}`
  }
}

function furthestOf(a: Need, b: Need): Near | undefined {
  return a.near === undefined || b.near === undefined ? (a.near ?? b.near) : furthest(a.near, b.near)
}

/** One need that costs at least as much as two, but for the place. */
function joined(a: Need, b: Need): Need {
  if (a.kind === b.kind && 'count' in a && 'from' in a && a.kind !== 'point') {
    const both = b as typeof a
    const count = a.count + both.count
    if (a.kind !== 'aggregates') return { ...a, ...hull(a, both), count }
    const ranges = (a.ranges ?? 1) + ((b as typeof a).ranges ?? 1)
    return { ...a, ...hull(a, both), count, ranges }
  }
  if (a.kind === 'chunks' && b.kind === 'chunks') {
    const ranges = (a.ranges ?? 1) + (b.ranges ?? 1)
    return { kind: 'chunks', ...hull(a, b), beyond: Math.max(a.beyond, b.beyond), ranges }
  }
  if ((a.kind === 'current' || a.kind === 'point') && 'at' in b) {
    // Two points are as much as two values at most.
    const [from, to] = a.at < b.at ? [a.at, b.at] : [b.at, a.at]
    return { kind: 'values', from, to, count: 2, key: 0 }
  }
  if (a.kind === 'values' && 'at' in b) return { ...a, count: a.count + 1 }
  throw new TidemarkError('BUG', { what: `needs of kind ${a.kind} and ${b.kind} are kept apart` })
}
