import { type AggregationContext, aggregatesOf } from '../../calc/consumers/aggregates.ts'
import { statesNeed, statesOf } from '../../calc/consumers/states.ts'
import type { Evaluation } from '../../calc/graph/evaluation.ts'
import type { AggregatesNeed, Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { type AggregateColumns, type AggregateName, aggregateOf } from '../../series/aggregate-names.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import { NO_STATES, type StatesOfWindows, StateWindows } from '../../series/state-windows.ts'

/** Which aggregates are asked for, and how they are shown. */
export interface AskedAggregates {
  /** In the order of answers; none where STATES alone was asked for. */
  readonly names: readonly AggregateName[]
  /** Whether VAR was asked for by name. */
  readonly withVar: boolean
  /** Whether STATES was asked for. */
  readonly withStates: boolean
  /** Time unit of the tag's rate, which TOTAL is divided by; `null` without TOTAL. */
  readonly perUs: number | null
}

/** Aggregates as an answer shows them. */
export interface ShownAggregates {
  readonly columns: AggregateColumns
  /** The variance is shown under the interface's other name for it too. */
  readonly withVar: boolean
  /** `null` of what has no states; left out where they were not asked for. */
  readonly states?: StatesOfWindows | null
}

/** What the aggregates need of an operator. @param states of it; `null` for none */
export function askedNeeds(
  { names, withStates }: AskedAggregates,
  windows: Pick<AggregatesNeed, 'from' | 'to' | 'count' | 'key'>,
  states: TagStates | null,
): readonly Need[] {
  return [
    ...(names.length > 0 ? [{ kind: 'aggregates', ...windows, names } as const] : []),
    ...(withStates && states !== null ? [statesNeed(windows.from, windows.to, states)] : []),
  ]
}

/** The aggregates of an operator over n windows between n + 1 ascending edges. @param states of it; `null` for none */
export async function askedAggregates(
  operator: Operator,
  edges: Float64Array,
  { names, withVar, withStates, perUs }: AskedAggregates,
  states: TagStates | null,
  context: AggregationContext,
): Promise<ShownAggregates> {
  const [columns, found] = await Promise.all([
    names.length > 0 ? aggregatesOf(operator, edges, names, context) : {},
    withStates && states !== null ? statesOf(operator, edges, states, context.evaluation) : null,
  ])
  // Working out and writing 100,000 windows take a slice each.
  await context.evaluation.pause()
  return { columns: inUnit(columns, perUs), withVar, ...(withStates && { states: found }) }
}

/** The aggregates of no window. @param states of the tag; `null` for none */
export function noWindows(
  { names, withVar, withStates }: AskedAggregates,
  states: TagStates | null,
): ShownAggregates {
  const columns = Object.fromEntries(names.map((name) => [name, new Float64Array(0)]))
  const found = states === null ? null : new StateWindows(new Float64Array(1), states).finish()
  return { columns, withVar, ...(withStates && { states: found }) }
}

/**
 * Some of the windows, in the order of their indexes. A window of no length, the index -1, holds nothing: counts are 0,
 * all else has no value.
 */
export async function pickWindows(
  shown: ShownAggregates,
  indexes: Int32Array,
  evaluation: Evaluation,
): Promise<ShownAggregates> {
  const { columns, states } = shown
  const picked: Record<string, Float64Array> = {}
  for (const [name, column] of Object.entries(columns)) {
    const { empty } = aggregateOf(name as AggregateName)
    const values = new Float64Array(indexes.length)
    // A loop: `from` goes through an iterator, which takes long for very many windows.
    for (let i = 0; i < values.length; i++) values[i] = column[indexes[i]!] ?? empty
    picked[name] = values
    await evaluation.pause()
  }
  return {
    ...shown,
    columns: picked,
    ...(states != null && {
      states: { ...states, windows: Array.from(indexes, (index) => states.windows[index] ?? NO_STATES) },
    }),
  }
}

/** Puts a total into the unit that was asked for. */
function inUnit(columns: AggregateColumns, perUs: number | null): AggregateColumns {
  const { total } = columns
  if (perUs === null || total === undefined) return columns
  return { ...columns, total: total.map((integral) => integral / perUs) }
}
