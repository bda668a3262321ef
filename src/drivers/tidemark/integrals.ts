import { isObject } from '../../errors/fields.ts'
import type { CallContext, IntegralQuery } from '../../historian/contract.ts'
import type { Integrals } from '../../series/reads.ts'
import { MIN_INSTANT, US_PER_SECOND } from '../../time/instant.ts'
import { type Addresses, windowLabels, windowsOf } from './aggregates.ts'
import { notUnderstood } from './errors.ts'
import { type Answers, askForEach } from './extrapolation-limits.ts'
import type { Instance } from './instance.ts'
import type { LabelRequest } from './labels.ts'
import { gapDetail, LAST_INSTANT, readPoint, timeText } from './wire.ts'

/**
 * Integrals over spans, from aggregates over the spans. Without `maxGapUs`: from time averages, and the time from the
 * signal's first good point to its last one, or to where that one is held, which is exact but for one rounding. With
 * it: from totals, and the time in which the signal is 0 or is not.
 */
export async function readIntegrals(
  instance: Instance,
  queries: readonly IntegralQuery[],
  addresses: Addresses,
  context: CallContext,
): Promise<readonly Integrals[]> {
  return askForEach(
    instance,
    queries,
    (query) => labelsOf(query, addresses),
    (query, answers) => {
      const integralsOf = query.maxGapUs === undefined ? fromAverages : fromTotals
      return integralsOf(instance.historian, query, answers)
    },
    context,
  )
}

function labelsOf(query: IntegralQuery, addresses: Addresses): readonly LabelRequest[] {
  const { starts, ends, maxGapUs } = query
  const tag = addresses.signal(query)
  const spans = joinedSpans(starts, ends)
  if (maxGapUs !== undefined) {
    const names = ['total', 'durationZero', 'durationNonZero'] as const
    return spans.flatMap((edges) => windowLabels(tag, edges, names, gapDetail(query)))
  }
  const good = addresses.good(query.tag)
  return [
    { type: 'POINT_AFTER_OR_AT', tag: good, details: { at: timeText(MIN_INSTANT) } },
    { type: 'POINT_BEFORE_OR_AT', tag: good, details: { at: timeText(LAST_INSTANT) } },
    ...spans.flatMap((edges) => windowLabels(tag, edges, ['timeAvg'])),
  ]
}

function fromAverages(historian: string, query: IntegralQuery, answers: Answers): Integrals {
  const { starts, ends, holdUntil } = query
  const none = noIntegrals(query)
  const [first, last, ...windows] = answers
  if (first == null || last == null) return none
  const from = readPoint(first.dataPoint)
  const to = readPoint(last.dataPoint)
  if (from === null || to === null) throw notUnderstood(historian, 'its points are none')
  if (Number.isNaN(from.time)) return none
  const until = Math.max(to.time, holdUntil)
  return eachSpan(historian, query, windows, (i, { timeAvg }) => {
    const covered = Math.min(ends[i]!, until) - Math.max(starts[i]!, from.time)
    if (timeAvg === undefined || covered <= 0) return null
    // An average of a signal that has values throughout is null when it left the range of doubles.
    return { integral: typeof timeAvg === 'number' ? timeAvg * covered : Number.NaN, covered }
  })
}

function fromTotals(historian: string, query: IntegralQuery, answers: Answers): Integrals {
  return eachSpan(historian, query, answers, (_, { total, durationZero, durationNonZero }) => {
    if (typeof durationZero !== 'number' || typeof durationNonZero !== 'number')
      throw notUnderstood(historian, 'its durations are none')
    // Durations are whole microseconds, in seconds on the way.
    const covered = Math.round((durationZero + durationNonZero) * US_PER_SECOND)
    if (covered === 0) return null
    // A total of a signal that has values is null when it left the range of doubles.
    return { integral: typeof total === 'number' ? total * US_PER_SECOND : Number.NaN, covered }
  })
}

interface Span {
  readonly integral: number
  readonly covered: number
}

/** The spans that have a length, each from its window; `null` for one in which there is no value. */
function eachSpan(
  historian: string,
  query: IntegralQuery,
  answers: Answers,
  spanOf: (i: number, window: Readonly<Record<string, unknown>>) => Span | null,
): Integrals {
  const { starts, ends } = query
  const result = noIntegrals(query)
  // A tag that does not exist has no value anywhere.
  if (answers.includes(null)) return result
  const windows = answers.flatMap((answer) => windowsOf(historian, answer!))
  let next = 0
  for (let i = 0; i < starts.length; i++) {
    if (ends[i]! <= starts[i]!) continue
    const window = windows[next++]
    if (!isObject(window)) throw notUnderstood(historian, 'it has another number of windows')
    const span = spanOf(i, window)
    if (span === null) continue
    result.integrals[i] = span.integral
    result.coveredUs[i] = span.covered
  }
  return result
}

function noIntegrals({ starts }: IntegralQuery): Integrals {
  return { integrals: new Float64Array(starts.length), coveredUs: new Float64Array(starts.length) }
}

/** The edges of spans, adjoining ones as windows of one grid; spans of no length are left out. */
function joinedSpans(starts: Float64Array, ends: Float64Array): readonly Float64Array[] {
  const grids: number[][] = []
  for (let i = 0; i < starts.length; i++) {
    const [start, end] = [starts[i]!, ends[i]!]
    if (end <= start) continue
    const grid = grids.at(-1)
    if (grid?.at(-1) === start) grid.push(end)
    else grids.push([start, end])
  }
  return grids.map((grid) => Float64Array.from(grid))
}
