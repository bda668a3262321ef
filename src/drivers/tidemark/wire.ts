import { isObject } from '../../errors/fields.ts'
import { printTag } from '../../grammar/print.ts'
import type { TagTree } from '../../grammar/tree.ts'
import { makeColumns, NO_POINTS, type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import type { Comparisons, MissingSpan } from '../../series/reads.ts'
import { formatInstant } from '../../time/format.ts'
import { END_INSTANT, type Instant, MIN_INSTANT, US_PER_MS } from '../../time/instant.ts'
import { parseTime } from '../../time/parse.ts'
import { UTC } from '../../time/zone.ts'

/*
 * How times, tags and points travel between instances: the forms of the interface in which every microsecond survives.
 */

/** The last instant that the interface accepts. */
export const LAST_INSTANT = (END_INSTANT - 1) as Instant

const END_TEXT = formatInstant(END_INSTANT, UTC)

/** An instant in ISO 8601; one outside what the interface accepts as the nearest that it does. */
export function timeText(at: number): string {
  return formatInstant(Math.min(Math.max(at, MIN_INSTANT), LAST_INSTANT) as Instant, UTC)
}

/** The end of a range, which may be the instant after the last one that the interface accepts; else as `timeText`. */
export function endText(to: number): string {
  return to < END_INSTANT ? timeText(to) : END_TEXT
}

/** A duration of whole microseconds, in milliseconds. */
export function durationText(us: number): string {
  const whole = Math.floor(us / US_PER_MS)
  return `${whole}.${String(us - whole * US_PER_MS).padStart(3, '0')}`
}

/** The detail that says how long a tag's points are good for; none where they are so without limit. */
export function gapDetail({ maxGapUs }: { readonly maxGapUs?: number }): { readonly maxGap?: string } {
  return maxGapUs === undefined ? {} : { maxGap: durationText(maxGapUs) }
}

/** The detail that says what points are compared with; none where they are not. */
export function comparedDetail(compared: Comparisons | undefined): { readonly compared?: object } {
  return compared === undefined
    ? {}
    : { compared: { thresholds: compared.thresholds, ...gapDetail(compared) } }
}

/** The tag's address in a calculation that works on its good raw points only. */
export function goodPointsOf(historian: string, tag: string): string {
  return calculationOf('NOBAD', historian, tag)
}

/** The tag's address in a calculation that holds it from point to point, whatever its metadata says. */
export function heldPointsOf(historian: string, tag: string): string {
  return calculationOf('STEPPED', historian, tag)
}

function calculationOf(name: string, historian: string, tag: string): string {
  const tree: TagTree = { kind: 'tag', historian, name: tag, column: 0 }
  return printTag({ kind: 'call', name, args: [{ kind: 'series', tree, column: 0 }], column: 0 })
}

/**
 * Microseconds from epoch milliseconds with a fraction. Far from 1970 a double of milliseconds is off by up to half a
 * microsecond, and multiplying it would be off by one: the whole milliseconds are exact, and so is what is left of
 * them.
 */
export function usOfMs(ms: number): number {
  const whole = Math.trunc(ms)
  return whole * US_PER_MS + Math.round((ms - whole) * US_PER_MS)
}

/** Points in columns as the interface gives them; null for anything else. */
export function readColumns(input: unknown): PointColumns | null {
  if (!isObject(input)) return null
  const { timestamps, values, statuses = null } = input
  if (!Array.isArray(timestamps) || !Array.isArray(values) || values.length !== timestamps.length) return null
  if (statuses !== null && !(Array.isArray(statuses) && statuses.length === values.length)) return null
  if (input.unit !== 'ms') return null
  if (values.length === 0) return NO_POINTS
  const points = makeColumns(values.length)
  for (let i = 0; i < values.length; i++) {
    const ms = timestamps[i]
    const value = values[i]
    if (typeof ms !== 'number' || !(typeof value === 'number' || value === null)) return null
    points.times[i] = usOfMs(ms)
    points.values[i] = value ?? Number.NaN
    points.statuses[i] = statuses === null || statuses[i] === 'OK' ? STATUS_OK : STATUS_BAD
  }
  return points
}

/** Spans that points are missing of; none where the answer has none, null for anything that is no such list. */
export function readMissing(input: unknown): readonly MissingSpan[] | null {
  if (input === undefined) return []
  if (!Array.isArray(input)) return null
  const spans: MissingSpan[] = []
  for (const span of input) {
    if (!isObject(span)) return null
    const from = parseTime(span.from, { now: 0 as Instant, zone: UTC })
    // A span may end behind the last instant, which is none itself.
    const to = span.to === END_TEXT ? END_INSTANT : parseTime(span.to, { now: 0 as Instant, zone: UTC })
    if (from === null || to === null || from >= to) return null
    spans.push({ from, to })
  }
  return spans
}

/** One point; `time` NaN for a place without a raw point; null for what is no point. */
export function readPoint(input: unknown): { time: number; value: number; bad: boolean } | null {
  if (!isObject(input)) return null
  const { timestamp, value, status } = input
  // A stored point has a value, a BAD one too: without one there is no point.
  if (value === null) return { time: Number.NaN, value: Number.NaN, bad: true }
  const time = parseTime(timestamp, { now: 0 as Instant, zone: UTC })
  if (time === null || typeof value !== 'number') return null
  return { time, value, bad: status !== 'OK' }
}
