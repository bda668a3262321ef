import { anchoredWindows } from './anchored-windows.ts'
import { addDuration, type Duration } from './duration.ts'
import { divideSpan } from './exact.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_DAY } from './instant.ts'
import type { LocalBoundaries } from './window-anchor.ts'
import { type FindWindow, localWindows, nominalUs, startsIn } from './windows.ts'
import { MAX_OFFSET_US, type TimeZone, UTC } from './zone.ts'

/**
 * Evenly spaced instants: `from + round(i (to - from) / (count - 1))`, exactly, halves up; the first is
 * `from`, the last `to`. A count of 1 gives `from` alone.
 * @param count  at least 1
 */
export function evenGrid(from: Instant, to: Instant, count: number): Float64Array {
  return count === 1 ? Float64Array.of(from) : evenParts(from, to, count - 1)
}

/**
 * Edges of windows of equal length: `from + round(i (to - from) / count)`, exactly, halves up; one more than
 * windows.
 * @param count  number of windows, at least 1
 */
export function evenEdges(from: Instant, to: Instant, count: number): Float64Array {
  return evenParts(from, to, count)
}

/**
 * As a line is drawn on a raster (Bresenham): whole steps, and a carry for the remainder. Nothing is ever
 * rounded.
 */
function evenParts(from: number, to: number, parts: number): Float64Array {
  const times = new Float64Array(parts + 1)
  const { quotient, remainder } = divideSpan(from, to, parts)
  let at = from
  // In halves of a part, so that the carry comes at the half.
  let carry = parts
  for (let index = 0; index < parts; index++) {
    times[index] = at
    at += quotient
    carry += 2 * remainder
    if (carry >= 2 * parts) {
      carry -= 2 * parts
      at++
    }
  }
  times[parts] = to
  return times
}

/**
 * `from` and each whole number of steps after it, up to and including `to`. Months are counted from `from`,
 * so its day stays and is cut to the month's last; two steps at the same instant (of a day that a zone left
 * out) are one.
 * @returns null when there are more than `limit`
 */
export function stepGrid(
  from: Instant,
  to: Instant,
  step: Duration,
  zone: TimeZone,
  limit: number,
): Float64Array | null {
  return step.kind === 'exact'
    ? exactSteps(from, to, step.us, limit)
    : calendarSteps(from, to, step, zone, limit)
}

function exactSteps(from: Instant, to: Instant, us: number, limit: number): Float64Array | null {
  const count = divideSpan(from, to, us).quotient + 1
  if (count > limit) return null
  const times = new Float64Array(count)
  // Added up, not multiplied: the product can exceed 2^53 where the sum does not.
  for (let index = 0, at: number = from; index < count; index++, at += us) times[index] = at
  return times
}

function calendarSteps(
  from: Instant,
  to: Instant,
  step: Duration,
  zone: TimeZone,
  limit: number,
): Float64Array | null {
  const times: number[] = []
  let last = Number.NEGATIVE_INFINITY
  for (let count = 0; ; count++) {
    const at = addDuration(from, step, zone, count)
    if (at > to) return Float64Array.from(times)
    if (at <= last) continue
    if (times.length >= limit) return null
    times.push(at)
    last = at
  }
}

/**
 * How many points `stepGrid` gives, without making them: exact for exact steps; for calendar steps never too
 * few, and at most a few too many.
 */
export function countSteps(from: Instant, to: Instant, step: Duration): number {
  if (step.kind === 'exact') return divideSpan(from, to, step.us).quotient + 1
  // Clocks of a zone can be ahead at `to` and behind at `from`.
  const latest = to + 2 * MAX_OFFSET_US
  let steps = Math.max(0, Math.floor((latest - from) / nominalUs(step)))
  while (addDuration(from, step, UTC, steps) > latest) steps--
  while (addDuration(from, step, UTC, steps + 1) <= latest) steps++
  return steps + 1
}

/**
 * Windows of an interval. Without an anchor boundaries are local: of 24 hours and shorter from each midnight on, begun
 * anew there; of longer exact intervals from 1970-01-01; days from 1970-01-01, weeks from Monday 1970-01-05, months and
 * years from January 1970.
 */
export function intervalWindows(
  interval: Duration,
  anchor: LocalBoundaries | null,
  zone: TimeZone,
): FindWindow {
  return anchor === null ? localWindows(interval, 0, zone) : anchoredWindows(anchor, zone)
}

/**
 * Edges of windows: `from`, the boundaries between, `to`; one more than windows.
 * @param from   before `to`
 * @param limit  of windows
 * @returns      null when there are more windows than `limit`
 */
export function windowEdges(
  from: Instant,
  to: Instant,
  windows: FindWindow,
  limit: number,
): Float64Array | null {
  const inner = startsIn(windows, instantFromUs(from + 1), instantFromUs(to - 1), limit - 1)
  if (inner === null || limit < 1) return null
  const edges = new Float64Array(inner.length + 2)
  edges[0] = from
  edges.set(inner, 1)
  edges[inner.length + 1] = to
  return edges
}

/** The range from the boundary at or before `from` to that at or after `to`, within the accepted range. */
export function wholeWindows(
  from: Instant,
  to: Instant,
  windows: FindWindow,
): { from: Instant; to: Instant } {
  return {
    from: instantFromUs(Math.max(MIN_INSTANT, windows(from).start)),
    to: instantFromUs(Math.min(END_INSTANT, windows(instantFromUs(to - 1)).end)),
  }
}

/**
 * How many windows `windowEdges` gives, without making them: never too few, at most a few and one a day too
 * many.
 */
export function countWindows(from: Instant, to: Instant, interval: Duration): number {
  const steps = countSteps(from, to, interval)
  if (interval.kind !== 'exact') return steps + 1
  if (interval.us > US_PER_DAY) return steps + 1
  const midnights = Math.floor((to - from + 2 * MAX_OFFSET_US) / US_PER_DAY) + 1
  return steps + 1 + midnights
}
