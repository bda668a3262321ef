import type { TagStates } from '../../series/optional-metadata.ts'
import { type StatesOfWindows, StateWindows } from '../../series/state-windows.ts'
import type { Instant } from '../../time/instant.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Need } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'
import { addSegments } from './integrals.ts'
import type { Segments } from './join-segments.ts'
import { readSegments } from './segments.ts'

/**
 * How long a stored tag was in each of its states, over n windows between n + 1 edges. Which state a value is follows
 * from comparisons with the values that have names: points that do not tell are left out where the historian can.
 */
export async function statesOf(
  operator: Operator,
  edges: Float64Array,
  states: TagStates,
  evaluation: Evaluation,
): Promise<StatesOfWindows> {
  const windows = new StateWindows(edges, states)
  const compared = operator.compared?.(valuesOf(states)) ?? operator
  const take = (segments: Segments) => addSegments(windows, segments)
  await readSegments(compared, evaluation, edges[0]!, edges.at(-1)!, take)
  return windows.finish()
}

/** What `statesOf` needs of its operator over [from, to). */
export function statesNeed(from: Instant, to: Instant, states: TagStates): Need {
  return { kind: 'chunks', from, to, beyond: 0, compared: valuesOf(states) }
}

function valuesOf(states: TagStates): readonly number[] {
  return Object.keys(states).map(Number)
}
