import type { AggregateQuery, CallContext, IntegralQuery } from '../../historian/contract.ts'
import { AGGREGATE_NAMES, type AggregateColumns, type AggregateName } from '../../series/aggregate-names.ts'
import type { Integrals } from '../../series/reads.ts'
import { MIN_INSTANT } from '../../time/instant.ts'
import { notUnderstood } from './errors.ts'
import { type Instance, isObject } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'
import { windowRuns } from './runs.ts'
import { LAST_INSTANT, readPoint, timeText } from './wire.ts'

/** Where a tag's signal is found there. */
export interface Addresses {
  /** As its metadata says it runs. */
  stored(tag: string): string
  held(tag: string): string
  good(tag: string): string
}

const WORDS = {
  min: 'MIN',
  max: 'MAX',
  avg: 'AVG',
  median: 'MEDIAN',
  variance: 'VAR',
  stdDev: 'STDDEV',
  first: 'FIRST',
  last: 'LAST',
  sum: 'SUM',
  range: 'RANGE',
  count: 'COUNT',
  numGood: 'NUMGOOD',
  numBad: 'NUMBAD',
  timeAvg: 'TIMEAVG',
} as const satisfies Record<AggregateName, string>

/** All of them: the other instance works them out from the same points by the same rules. */
export const UPSTREAM_AGGREGATES: readonly AggregateName[] = AGGREGATE_NAMES

/** Aggregates over windows that join: one label for a whole grid where it is an even one. */
export async function readAggregates(
  instance: Instance,
  queries: readonly AggregateQuery[],
  addresses: Addresses,
  context: CallContext,
): Promise<readonly AggregateColumns[]> {
  const results: AggregateColumns[] = new Array(queries.length)
  for (const [now, group] of byHoldEnd(queries)) {
    const labels = group.map(({ query: { tag, edges, aggregates, stepped } }) => {
      const address = stepped && aggregates.includes('timeAvg') ? addresses.held(tag) : addresses.stored(tag)
      return windowLabels(address, edges, aggregates)
    })
    const answers = await ask(instance, labels.flat(), { kind: 'read', now }, context)
    let at = 0
    group.forEach(({ query, index }, i) => {
      const count = labels[i]!.length
      results[index] = columnsOf(instance.historian, query, answers.slice(at, at + count))
      at += count
    })
  }
  return results
}

/**
 * Integrals over spans, from the time averages of the spans and the time over which the signal has a value: that is from its
 * first good point to its last one, or to where that one is held. Exact but for one rounding.
 */
export async function readIntegrals(
  instance: Instance,
  queries: readonly IntegralQuery[],
  addresses: Addresses,
  context: CallContext,
): Promise<readonly Integrals[]> {
  const results: Integrals[] = new Array(queries.length)
  for (const [now, group] of byHoldEnd(queries)) {
    const labels = group.map(({ query: { tag, starts, ends, stepped } }) => [
      { type: 'POINT_AFTER_OR_AT', tag: addresses.good(tag), details: { at: timeText(MIN_INSTANT) } },
      { type: 'POINT_BEFORE_OR_AT', tag: addresses.good(tag), details: { at: timeText(LAST_INSTANT) } },
      ...joinedSpans(starts, ends).flatMap((edges) =>
        windowLabels(stepped ? addresses.held(tag) : addresses.stored(tag), edges, ['timeAvg']),
      ),
    ])
    const answers = await ask(instance, labels.flat(), { kind: 'read', now }, context)
    let at = 0
    group.forEach(({ query, index }, i) => {
      const count = labels[i]!.length
      results[index] = integralsOf(instance.historian, query, answers.slice(at, at + count))
      at += count
    })
  }
  return results
}

type Answers = readonly (Readonly<Record<string, unknown>> | null)[]

function windowLabels(
  tag: string,
  edges: Float64Array,
  aggregates: readonly AggregateName[],
): readonly LabelRequest[] {
  if (edges.length < 2) return []
  const words = aggregates.map((name) => WORDS[name])
  return windowRuns(edges).map(({ start, end }) => {
    const details = { from: timeText(edges[start]!), to: timeText(edges[end]!), aggregates: words }
    return end === start + 1
      ? { type: 'AGGREGATED_POINTS', tag, details }
      : { type: 'MULTIPLE_AGGREGATED_POINTS', tag, details: { ...details, count: end - start } }
  })
}

function columnsOf(historian: string, query: AggregateQuery, answers: Answers): AggregateColumns {
  const windows = query.edges.length - 1
  const columns: { [name in AggregateName]?: Float64Array } = {}
  for (const name of query.aggregates) {
    const isCount = name === 'count' || name === 'numGood' || name === 'numBad'
    columns[name] = new Float64Array(windows).fill(isCount ? 0 : Number.NaN)
  }
  let at = 0
  for (const answer of answers) {
    // A tag that does not exist has nothing in any window.
    if (answer === null) return columns
    for (const window of windowsOf(historian, answer)) {
      for (const name of query.aggregates) {
        const value = window[name]
        if (typeof value === 'number') columns[name]![at] = value
      }
      at++
    }
  }
  if (at !== windows) throw notUnderstood(historian, 'it has another number of windows')
  return columns
}

function windowsOf(historian: string, { aggregates }: Readonly<Record<string, unknown>>) {
  if (!Array.isArray(aggregates) || !aggregates.every(isObject)) {
    throw notUnderstood(historian, 'its aggregates are no array of objects')
  }
  return aggregates
}

function integralsOf(historian: string, query: IntegralQuery, answers: Answers): Integrals {
  const { starts, ends, holdUntil } = query
  const integrals = new Float64Array(starts.length)
  const coveredUs = new Float64Array(starts.length)
  const [first, last, ...windows] = answers
  if (first == null || last == null) return { integrals, coveredUs }
  const from = readPoint(first.dataPoint)
  const to = readPoint(last.dataPoint)
  if (from === null || to === null) throw notUnderstood(historian, 'its points are none')
  if (Number.isNaN(from.time)) return { integrals, coveredUs }
  const until = Math.max(to.time, holdUntil)
  const averages = windows.flatMap((answer) => (answer === null ? [] : windowsOf(historian, answer)))
  let window = 0
  for (let i = 0; i < starts.length; i++) {
    if (ends[i]! <= starts[i]!) continue
    const average = averages[window++]?.timeAvg
    const covered = Math.min(ends[i]!, until) - Math.max(starts[i]!, from.time)
    if (typeof average !== 'number' || covered <= 0) continue
    integrals[i] = average * covered
    coveredUs[i] = covered
  }
  return { integrals, coveredUs }
}

/** The edges of spans, those that join as windows of one grid; spans of no length are left out. */
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

/** Queries by the end of the hold, which is a call's `now`: mostly all have the same. */
export function byHoldEnd<Query extends { readonly holdUntil: number }>(queries: readonly Query[]) {
  const groups = new Map<number, { readonly query: Query; readonly index: number }[]>()
  queries.forEach((query, index) => {
    groups.getOrInsertComputed(query.holdUntil, () => []).push({ query, index })
  })
  return groups
}
