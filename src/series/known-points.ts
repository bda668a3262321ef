import {
  concatColumns,
  lowerBound,
  type PointColumns,
  reverseColumns,
  sliceColumns,
  upperBound,
} from './columns.ts'
import { isGood } from './interpolate.ts'
import type { BoundingValues, FindPoint, RangeResult } from './reads.ts'

/** A range of raw points to be read: [from, to), at most `limit` of them (at least 1). */
interface LimitedRange {
  readonly from: number
  readonly to: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** What is still to be read of a range, and how many points of it are known on the side where the reading begins. */
export interface Gap {
  readonly from: number
  readonly to: number
  readonly known: number
}

/** An interval [from, to) of which every point is known. */
interface KnownRange {
  from: number
  to: number
  /** Points in time order, none empty. */
  parts: PointColumns[]
}

/** Parts up to this length are joined, so that many short reads do not make many parts. */
const SHORT_PART = 4_096
/** Known points up to so many within a range to be read are read again with it: a read of its own costs more. */
const FEW_POINTS = 4
/** BAD points that the search for a good one passes by. */
const BAD_RUN = 64

/**
 * Interval set of the raw points of one tag that were read already: disjoint ranges, each known completely. Reads of
 * ranges that overlap them fetch only what is missing. All look-ups are binary searches.
 */
export class KnownPoints {
  /** Ascending; they neither overlap nor touch. */
  readonly #ranges: KnownRange[] = []

  /** Records that `points`, ascending, are all points of [from, to). They are kept, not copied, and must not change. */
  add(from: number, to: number, points: PointColumns): void {
    if (from >= to) return
    const ranges = this.#ranges
    // Intervals that touch the new range.
    const first = this.#rangeFrom(from - 1)
    let end = first
    while (end < ranges.length && ranges[end]!.from <= to) end++
    const touched = ranges.slice(first, end)
    const left = touched[0]
    if (touched.length === 1 && left!.to === from) {
      append(left!.parts, points)
      left!.to = to
      return
    }
    if (touched.length === 1 && left!.from === to) {
      prepend(left!.parts, points)
      left!.from = from
      return
    }
    const merged: KnownRange = { from, to, parts: points.times.length === 0 ? [] : [points] }
    for (const known of touched) {
      merged.parts = [
        ...partsWithin(known, known.from, from),
        ...merged.parts,
        ...partsWithin(known, to, known.to),
      ]
      merged.from = Math.min(merged.from, known.from)
      merged.to = Math.max(merged.to, known.to)
    }
    ranges.splice(first, touched.length, merged)
  }

  /** The result of a read where all that it takes is known, else `null`. */
  answer(range: LimitedRange): RangeResult | null {
    const begin = this.#beginning(range)
    if (begin === null) return null
    const { from, to, known } = begin
    const points = pointsOf(known, from, to, range.order, range.limit + 1)
    if (points.times.length > range.limit) return { points: sliceColumns(points, 0, range.limit), more: true }
    return from === range.from && to === range.to ? { points, more: false } : null
  }

  /** The points that a read would begin with, at most its limit. */
  beginning(range: LimitedRange): PointColumns {
    const begin = this.#beginning(range)
    return begin === null
      ? concatColumns([])
      : pointsOf(begin.known, begin.from, begin.to, range.order, range.limit)
  }

  /**
   * What a read must fetch first: up to the next range with more than a few points that are known. Only where `answer`
   * gives `null`.
   */
  gap(range: LimitedRange): Gap {
    const begin = this.#beginning(range)
    const known = begin === null ? 0 : countOf(begin.known, begin.from, begin.to)
    let { from, to } = range
    if (begin !== null && range.order === 'asc') from = begin.to
    if (begin !== null && range.order === 'desc') to = begin.from
    const other = this.#rangeAt(range.order === 'asc' ? range.to - 1 : range.from)
    if (other !== null && range.order === 'asc') to = Math.max(from, Math.min(to, other.from))
    if (other !== null && range.order === 'desc') from = Math.min(to, Math.max(from, other.to))
    const next = this.#within(from, to, range.order)
    if (next !== null && range.order === 'asc') to = next.from
    if (next !== null && range.order === 'desc') from = next.to
    return { from, to, known }
  }

  /** The raw point next to an instant; `null` where the known points do not show it. */
  point(find: FindPoint, at: number): { time: number; value: number; status: number } | null {
    // Instants are whole, so "before" is "at or before the microsecond before".
    const isBack = find === 'before' || find === 'before-or-at'
    const place = find === 'before' ? at - 1 : find === 'after' ? at + 1 : at
    const found = this.#next(place, isBack, () => true)
    if (found === null) return null
    const { points, index } = found
    return { time: points.times[index]!, value: points.values[index]!, status: points.statuses[index]! }
  }

  /** The bounding values of one instant; `null` where the known points do not show both. */
  boundingValues(at: number): BoundingValues | null {
    const before = this.#next(at, true, isGood)
    const after = before === null ? null : this.#next(at, false, isGood)
    if (before === null || after === null) return null
    return {
      beforeTimes: Float64Array.of(before.points.times[before.index]!),
      beforeValues: Float64Array.of(before.points.values[before.index]!),
      afterTimes: Float64Array.of(after.points.times[after.index]!),
      afterValues: Float64Array.of(after.points.values[after.index]!),
    }
  }

  /** The part of a range that is known where its reading begins. */
  #beginning({ from, to, order }: LimitedRange): { from: number; to: number; known: KnownRange } | null {
    if (from >= to) return null
    const known = this.#rangeAt(order === 'asc' ? from : to - 1)
    if (known === null) return null
    return { from: Math.max(from, known.from), to: Math.min(to, known.to), known }
  }

  /** The known range that an instant lies in. */
  #rangeAt(at: number): KnownRange | null {
    const found = this.#ranges[this.#rangeFrom(at)]
    return found !== undefined && found.from <= at ? found : null
  }

  /** The first range inside of [from, to), in the order of a read, that is worth not being read again. */
  #within(from: number, to: number, order: 'asc' | 'desc'): KnownRange | null {
    const [first, end] = [this.#rangeFrom(from), this.#rangeFrom(to)]
    for (let i = first; i < end; i++) {
      const known = this.#ranges[order === 'asc' ? i : first + end - 1 - i]!
      const isInside = known.from > from && known.to < to
      if (isInside && countOf(known, known.from, known.to) > FEW_POINTS) return known
    }
    return null
  }

  /** Index of the first known range that ends after an instant. */
  #rangeFrom(at: number): number {
    const ranges = this.#ranges
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ranges[middle]!.to <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  #next(
    at: number,
    isBack: boolean,
    accept: (points: PointColumns, index: number) => boolean,
  ): { points: PointColumns; index: number } | null {
    const known = this.#rangeAt(at)
    if (known === null) return null
    const { parts } = known
    let part = isBack ? partAfter(parts, at) - 1 : partFrom(parts, at)
    for (let passed = 0; passed < BAD_RUN && part >= 0 && part < parts.length; part += isBack ? -1 : 1) {
      const points = parts[part]!
      const { times } = points
      let index = isBack ? upperBound(times, at) - 1 : lowerBound(times, at)
      for (; passed < BAD_RUN && index >= 0 && index < times.length; index += isBack ? -1 : 1) {
        if (accept(points, index)) return { points, index }
        passed++
      }
    }
    return null
  }
}

/** Index of the first part with a point at or after an instant. */
function partFrom(parts: readonly PointColumns[], at: number): number {
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (parts[middle]!.times.at(-1)! < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first part whose points are all after an instant. */
function partAfter(parts: readonly PointColumns[], at: number): number {
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (parts[middle]!.times[0]! <= at) low = middle + 1
    else high = middle
  }
  return low
}

function partsWithin({ parts }: KnownRange, from: number, to: number): PointColumns[] {
  if (from >= to) return []
  return parts.map((part) => within(part, from, to)).filter(({ times }) => times.length > 0)
}

function within(points: PointColumns, from: number, to: number): PointColumns {
  return sliceColumns(points, lowerBound(points.times, from), lowerBound(points.times, to))
}

function countOf({ parts }: KnownRange, from: number, to: number): number {
  let count = 0
  for (let i = partFrom(parts, from); i < parts.length; i++) {
    const { times } = parts[i]!
    if (times[0]! >= to) break
    count += lowerBound(times, to) - lowerBound(times, from)
  }
  return count
}

/** The first (`asc`) or last (`desc`) `most` points of [from, to), in that order. */
function pointsOf(
  { parts }: KnownRange,
  from: number,
  to: number,
  order: 'asc' | 'desc',
  most: number,
): PointColumns {
  const taken: PointColumns[] = []
  let count = 0
  if (order === 'asc') {
    for (let i = partFrom(parts, from); i < parts.length && count < most; i++) {
      const points = within(parts[i]!, from, to)
      if (points.times.length === 0) break
      taken.push(sliceColumns(points, 0, most - count))
      count += points.times.length
    }
    return concatColumns(taken)
  }
  for (let i = partAfter(parts, to - 1) - 1; i >= 0 && count < most; i--) {
    const points = within(parts[i]!, from, to)
    const { length } = points.times
    if (length === 0) break
    taken.unshift(sliceColumns(points, Math.max(0, length - most + count), length))
    count += length
  }
  return reverseColumns(concatColumns(taken))
}

/** Joins short parts of like length, so that a point is copied a few times at most however short the reads are. */
function append(parts: PointColumns[], points: PointColumns): void {
  let added = points
  if (added.times.length === 0) return
  for (let last = parts.at(-1); isJoined(last, added); last = parts.at(-1)) {
    added = concatColumns([last!, added])
    parts.pop()
  }
  parts.push(added)
}

function prepend(parts: PointColumns[], points: PointColumns): void {
  let added = points
  if (added.times.length === 0) return
  for (let first = parts[0]; isJoined(first, added); first = parts[0]) {
    added = concatColumns([added, first!])
    parts.shift()
  }
  parts.unshift(added)
}

function isJoined(beside: PointColumns | undefined, { times }: PointColumns): boolean {
  return (
    beside !== undefined &&
    beside.times.length <= times.length &&
    beside.times.length + times.length <= SHORT_PART
  )
}
