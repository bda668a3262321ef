import { isObject } from '../../errors/fields.ts'
import type { AggregateQuery, CallContext } from '../../historian/contract.ts'
import { signalAggregates, takesSignal, WindowAggregator } from '../../series/aggregate.ts'
import {
  AGGREGATE_NAMES,
  type AggregateColumns,
  type AggregateName,
  aggregateOf,
} from '../../series/aggregate-names.ts'
import { STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { WindowSignal } from '../../series/window-signal.ts'
import { US_PER_SECOND } from '../../time/instant.ts'
import { notUnderstood } from './errors.ts'
import { type Answers, askForEach } from './extrapolation-limits.ts'
import type { Instance } from './instance.ts'
import type { LabelRequest } from './labels.ts'
import { windowRuns } from './runs.ts'
import { endText, gapDetail, timeText, usOfMs } from './wire.ts'

/** Where a tag is found there. */
export interface Addresses {
  stored(tag: string): string
  /** Its good raw points alone. */
  good(tag: string): string
  /** Its signal, which is that of its metadata where it is not stepped. */
  signal(shape: { readonly tag: string; readonly stepped: boolean }): string
}

/** All of them: the other instance works them out from the same points by the same rules. */
export const UPSTREAM_AGGREGATES: readonly AggregateName[] = AGGREGATE_NAMES

/** What names an aggregate in a request. */
function wordOf(name: AggregateName): string {
  return name === 'variance' ? 'VAR' : name.toUpperCase()
}

/** Aggregates over windows that join: one label for a whole grid where it is an even one. */
export async function readAggregates(
  instance: Instance,
  queries: readonly AggregateQuery[],
  addresses: Addresses,
  context: CallContext,
): Promise<readonly AggregateColumns[]> {
  const labelsOf = (query: AggregateQuery) => {
    const { tag, edges, aggregates } = query
    return takesSignal(aggregates)
      ? windowLabels(addresses.signal(query), edges, aggregates, gapDetail(query))
      : windowLabels(addresses.stored(tag), edges, aggregates)
  }
  const resultOf = (query: AggregateQuery, answers: Answers) => columnsOf(instance.historian, query, answers)
  return askForEach(instance, queries, labelsOf, resultOf, context)
}

/** Labels for aggregates over windows that join, of a tag by its address there. */
export function windowLabels(
  tag: string,
  edges: Float64Array,
  aggregates: readonly AggregateName[],
  details: Readonly<Record<string, unknown>> = {},
): readonly LabelRequest[] {
  if (edges.length < 2) return []
  const words = aggregates.map(wordOf)
  // Totals are in the tag's unit times microseconds here, and times seconds on the way.
  const common = { ...details, aggregates: words, ...(aggregates.includes('total') && { per: '1s' }) }
  return windowRuns(edges).map(({ start, end }) => {
    const window = { from: timeText(edges[start]!), to: endText(edges[end]!), ...common }
    return end === start + 1
      ? { type: 'AGGREGATED_POINTS', tag, details: window }
      : { type: 'MULTIPLE_AGGREGATED_POINTS', tag, details: { ...window, count: end - start } }
  })
}

function columnsOf(historian: string, query: AggregateQuery, answers: Answers): AggregateColumns {
  const windows = query.edges.length - 1
  // A tag that does not exist has nothing in any window.
  if (answers.includes(null)) return emptyWindows(query)
  const columns: { [name in AggregateName]?: Float64Array } = {}
  for (const name of query.aggregates) columns[name] = new Float64Array(windows)
  let at = 0
  for (const answer of answers) {
    for (const window of windowsOf(historian, answer!)) {
      for (const name of query.aggregates) {
        columns[name]![at] = numberOf(name, window[name])
      }
      at++
    }
  }
  if (at !== windows) throw notUnderstood(historian, 'it has another number of windows')
  return columns
}

/** Aggregates over windows without points. */
function emptyWindows({ edges, aggregates, stepped, ...shape }: AggregateQuery): AggregateColumns {
  const points = new WindowAggregator(edges, aggregates, shape.holdUntil)
  const signal = new WindowSignal(edges, aggregates, { stepped, ...shape }).finish()
  return { ...points.finish(), ...signalAggregates(signal, points.rises(), aggregates, stepped) }
}

/** A number as it is, times as instants, statuses as those of columns; NaN for none. */
function numberOf(name: AggregateName, value: unknown): number {
  if (aggregateOf(name).shownAs === 'status') {
    if (value === 'BAD') return STATUS_BAD
    return value === 'OK' ? STATUS_OK : Number.NaN
  }
  if (typeof value !== 'number') return Number.NaN
  if (aggregateOf(name).shownAs === 'time') return usOfMs(value)
  return name === 'total' ? value * US_PER_SECOND : value
}

/** The windows of an answer. Throws where it has none. */
export function windowsOf(historian: string, answer: Readonly<Record<string, unknown>>) {
  const windows = windowsIn(answer)
  if (windows !== null) return windows
  throw notUnderstood(historian, 'its aggregates are neither columns nor an array of objects')
}

/**
 * The windows of an answer: columns, or an array of objects, which versions before them gave in calls for columns, too;
 * `null` for anything else.
 */
export function windowsIn({
  aggregates,
}: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] | null {
  if (Array.isArray(aggregates)) return aggregates.every(isObject) ? aggregates : null
  if (!isObject(aggregates) || !Array.isArray(aggregates.from)) return null
  const columns = Object.entries(aggregates).filter(([, column]) => Array.isArray(column))
  return aggregates.from.map((_, i) =>
    Object.fromEntries(columns.map(([name, column]) => [name, (column as readonly unknown[])[i]])),
  )
}
