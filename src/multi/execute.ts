import type { Evaluation } from '../calc/graph/evaluation.ts'
import { issueOf } from '../errors/tidemark-error.ts'
import type { TagStates } from '../series/optional-metadata.ts'
import { type InvalidLabel, type ParsedLabel, treesOf } from './call.ts'
import { expectedBytes } from './expected-memory.ts'
import type { MemoryGate } from './memory-gate.ts'
import { namedStates, type Plan, type PlannedLabel } from './plan.ts'
import { Grids } from './requests/grids.ts'
import type { Result } from './requests/request.ts'

/** A label with what it is answered with. */
export interface ExecutedLabel {
  readonly parsed: Pick<ParsedLabel, 'label' | 'address' | 'now' | 'zone'> &
    Partial<Pick<ParsedLabel, 'tree'>>
  /** Of a label whose tag is a stored one with names of its values; left out for all others. */
  readonly states?: TagStates
  readonly result: Result
}

/** Labels started before the event loop is checked for other work. */
const STEP_LABELS = 256

/** The outcome of each label, in their order. Labels do not wait for each other. */
export async function executeLabels(
  { labels }: Plan,
  { evaluation, gate, signal }: Execution,
): Promise<readonly (ExecutedLabel | InvalidLabel)[]> {
  const grids = new Grids()
  const outcomes: (InvalidLabel | Promise<ExecutedLabel | InvalidLabel>)[] = []
  for (const [i, label] of labels.entries()) {
    if (i % STEP_LABELS === STEP_LABELS - 1) await evaluation.pause()
    outcomes.push(label.kind === 'invalid' ? label : executeLabel(label, { evaluation, gate, signal, grids }))
  }
  const executed = await Promise.all(outcomes)
  // Past the deadline no label has failed by itself, the whole call has.
  signal.throwIfAborted()
  return executed
}

export interface Execution {
  readonly evaluation: Evaluation
  readonly gate: MemoryGate
  readonly signal: AbortSignal
}

/** Never rejects. */
async function executeLabel(
  planned: PlannedLabel,
  { evaluation, gate, signal, grids }: Execution & { readonly grids: Grids },
): Promise<ExecutedLabel | InvalidLabel> {
  const { parsed, operator, other } = planned
  const { label, address, request, zone, now } = parsed
  const states = namedStates(parsed.tree, operator)
  const otherStates = namedStates(parsed.otherTree, other)
  const answer = () => request.answer(operator, { evaluation, grids, zone, now, states, other, otherStates })
  try {
    // A tag alone holds no more than its answer.
    const result = treesOf(parsed).every(({ kind }) => kind === 'tag')
      ? await answer()
      : await gate.run(expectedBytes(planned), signal, answer)
    return states === null ? { parsed, result } : { parsed, states, result }
  } catch (error) {
    return { kind: 'invalid', label, issue: issueOf(error, { label, tag: address }), cause: error }
  }
}
