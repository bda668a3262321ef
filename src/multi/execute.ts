import type { Evaluation } from '../calc/graph/evaluation.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { mapEach } from '../scheduling/each.ts'
import type { MemoryGate } from '../scheduling/memory-gate.ts'
import type { TagStates } from '../series/optional-metadata.ts'
import { failedLabel, type InvalidLabel, type ParsedLabel } from './call.ts'
import { expectedBytes } from './expected-memory.ts'
import { isCalculation } from './parse.ts'
import { namedStates, type Plan, type PlannedLabel } from './plan.ts'
import type { Grids, Result } from './requests/request.ts'

/** A label with what it is answered with. */
export interface ExecutedLabel {
  readonly parsed: Pick<ParsedLabel, 'label' | 'address' | 'now' | 'zone'> &
    Partial<Pick<ParsedLabel, 'tree'>>
  /** Of a label whose tag is a stored one with names of its values; left out for all others. */
  readonly states?: TagStates
  readonly result: Result
}

/**
 * What is left of the plan of a label once its call is allowed: reads of very many labels take hundreds of bytes each.
 */
export interface ExecutableLabel extends Pick<PlannedLabel, 'parsed' | 'operator' | 'other'> {
  readonly kind: 'executable'
  /** What its evaluation is expected to hold; 0 of a tag alone, which holds no more than its answer. */
  readonly heldBytes: number
}

/** The labels of a plan that is allowed. */
export function executableLabels(
  { labels }: Plan,
  scheduler: CooperativeScheduler,
): Promise<readonly (ExecutableLabel | InvalidLabel)[]> {
  return mapEach(labels, scheduler, (planned) => {
    if (planned.kind === 'invalid') return planned
    const { parsed, operator, other } = planned
    const heldBytes = isCalculation(parsed) ? expectedBytes(planned) : 0
    return { kind: 'executable', parsed, operator, other, heldBytes }
  })
}

/** Labels started before the event loop is checked for other work. */
const STEP_LABELS = 128
/** Such a label begins so much at once that the event loop is checked before it. */
const LONG_BYTES = 65_536
/** Labels that are on their way at once; the next ones are started when half of them are answered. */
export const MOST_STARTED = 512

/** The outcome of each label, in their order. Labels do not wait for each other, but where there are very many. */
export async function executeLabels(
  labels: readonly (ExecutableLabel | InvalidLabel)[],
  { evaluation, gate, signal }: Execution,
): Promise<readonly (ExecutedLabel | InvalidLabel)[]> {
  const execution = { evaluation, gate, signal, grids: new Map() }
  const outcomes: (InvalidLabel | ExecutedLabel)[] = Array.from({ length: labels.length })
  const started: Promise<void>[] = []
  for (const [i, label] of labels.entries()) {
    const isLong = label.kind === 'executable' && label.heldBytes >= LONG_BYTES
    if (isLong || i % STEP_LABELS === STEP_LABELS - 1) await evaluation.pause()
    if (label.kind === 'invalid') {
      outcomes[i] = label
      continue
    }
    if (started.length === MOST_STARTED) await Promise.all(started.splice(0, MOST_STARTED / 2))
    started.push(
      executeLabel(label, execution).then((outcome) => {
        outcomes[i] = outcome
      }),
    )
  }
  await Promise.all(started)
  // Past the deadline no label has failed by itself, the whole call has.
  signal.throwIfAborted()
  return outcomes
}

export interface Execution {
  readonly evaluation: Evaluation
  readonly gate: MemoryGate
  readonly signal: AbortSignal
}

/** Never rejects. */
async function executeLabel(
  { parsed, operator, other, heldBytes }: ExecutableLabel,
  { evaluation, gate, signal, grids }: Execution & { readonly grids: Grids },
): Promise<ExecutedLabel | InvalidLabel> {
  const { request, zone, now } = parsed
  const states = namedStates(parsed.tree, operator)
  const otherStates = namedStates(parsed.otherTree, other)
  const answer = () => request.answer(operator, { evaluation, grids, zone, now, states, other, otherStates })
  try {
    const result = heldBytes === 0 ? await answer() : await gate.run(heldBytes, signal, answer)
    return states === null ? { parsed, result } : { parsed, states, result }
  } catch (error) {
    return failedLabel(parsed, error)
  }
}
