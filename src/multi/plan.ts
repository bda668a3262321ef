import { type Estimate, estimate } from '../calc/graph/estimate.ts'
import type { Evaluation } from '../calc/graph/evaluation.ts'
import { Graph } from '../calc/graph/graph.ts'
import type { Operator, OperatorContext } from '../calc/graph/operator.ts'
import { checkGenerated } from '../calc/leaves/generated.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach } from '../scheduling/each.ts'
import type { TagStates } from '../series/optional-metadata.ts'
import { type CallLabel, failedLabel, type InvalidLabel, type ParsedLabel } from './call.ts'
import type { CallLimits, CallTotals } from './limit.ts'
import { isCalculation } from './parse.ts'
import { type EstimatedRead, PlannedReads, sumLoad } from './reads.ts'
import type { RequestSize } from './requests/request.ts'
import type { FindStoredTag } from './resolve.ts'

/**
 * What a call will do, before it does any of it: for each label the operator that answers it, its size in the words of
 * the limits, and the reads it will make.
 */
export interface Plan {
  readonly labels: readonly (PlannedLabel | InvalidLabel)[]
  readonly reads: PlannedReads
}

export interface PlannedLabel {
  readonly kind: 'planned'
  readonly parsed: ParsedLabel
  readonly size: RequestSize
  readonly operator: Operator
  /** Of `request.otherTag`; `null` without one. */
  readonly other: Operator | null
  /** Shared with other labels that make the same reads. */
  readonly reads: readonly EstimatedRead[]
  /** Raw points of signals, at most. */
  readonly generated: number
}

export interface Planning {
  readonly findTag: FindStoredTag
  readonly limits: CallLimits
  readonly evaluation: Evaluation
  readonly scheduler: CooperativeScheduler
}

/** Labels of tags alone that are planned before the event loop is checked for other work. */
const STEP_LABELS = 64

/**
 * Plans every label. A label is a transaction: it counts when it is planned whole; one that cannot be planned carries
 * its issue and takes nothing of the others.
 */
export async function planCall(labels: readonly CallLabel[], planning: Planning): Promise<Plan> {
  const { findTag, limits, evaluation } = planning
  const reads = new PlannedReads()
  const graph = new Graph(findTag)
  const left = { points: limits.requestedPoints, windows: limits.aggregateWindows }
  const planned: (PlannedLabel | InvalidLabel)[] = []
  const pause = () => evaluation.pause()
  for (const [i, label] of labels.entries()) {
    if (i % STEP_LABELS === 0 || isCalculation(label)) await pause()
    if (label.kind === 'invalid') {
      planned.push(label)
      continue
    }
    const { request, tree, otherTree, zone } = label
    try {
      const size = request.size(left, zone)
      const context = operatorContext(label, evaluation)
      const built = graph.build(tree, context)
      const operator = request.operatorFor?.(built) ?? built
      const other = otherTree === null ? null : graph.build(otherTree, context)
      const needs = request.needs(size, zone, namedStates(tree, built))
      const pending = estimate(operator, needs, pause)
      const found = pending instanceof Promise ? await pending : pending
      let generated = checkSignals(found)
      const otherNeeds = request.otherNeeds?.(namedStates(otherTree, other)) ?? []
      const beside = other === null ? null : await estimate(other, otherNeeds, pause)
      if (beside !== null) generated += checkSignals(beside)
      left.points -= size.points
      left.windows -= size.windows
      const ownReads = found.reads.map((read) => reads.add(read))
      for (const read of beside?.reads ?? []) ownReads.push(reads.add(read))
      planned.push({ kind: 'planned', parsed: label, size, operator, other, reads: ownReads, generated })
    } catch (error) {
      planned.push(failedLabel(label, error))
    }
  }
  return { labels: planned, reads }
}

/** Names of the values of a stored tag that has some; a calculation has none, even where it is a tag's own operator. */
export function namedStates(
  tree: ParsedLabel['tree'] | null,
  operator: Pick<Operator, 'states'> | null,
): TagStates | null {
  return tree?.kind === 'tag' ? (operator?.states ?? null) : null
}

/** What the operator of a label is made in. */
export function operatorContext(
  { request: { range, spacingUs }, now, zone, maxGapUs }: ParsedLabel,
  evaluation: Evaluation,
): OperatorContext {
  return {
    ...{ evaluation, now, zone, range },
    ...(spacingUs !== undefined && { spacingUs }),
    ...(maxGapUs !== undefined && { maxGapUs }),
  }
}

/** Points of all signals. Throws LIMIT_GENERATED_POINTS, which names the one that most would be generated for. */
function checkSignals({ generated }: Estimate): number {
  let sum = 0
  let most = 0
  let name = ''
  for (const [address, points] of generated) {
    sum += points
    if (points <= most) continue
    most = points
    name = address
  }
  checkGenerated(name, sum)
  return sum
}

/** The labels that go on to be executed. */
export function plannedLabels({ labels }: Plan): readonly PlannedLabel[] {
  return labels.filter((label) => label.kind !== 'invalid')
}

/** Labels with a read that could not be estimated fail with its error, and count no more. */
export function withoutFailed(plan: Plan, failures: ReadonlyMap<EstimatedRead, unknown>): Plan {
  if (failures.size === 0) return plan
  const labels = plan.labels.map((planned) => {
    if (planned.kind === 'invalid') return planned
    const failed = planned.reads.find((read) => failures.has(read))
    return failed === undefined ? planned : failedLabel(planned.parsed, failures.get(failed))
  })
  return { ...plan, labels }
}

/** Totals that were worked out in this process. */
let totalsMade = 0

/**
 * What the labels that can be executed need, in the words of the limits; the load only where it is estimated, and that
 * without what only MEDIAN needs where `withMedian` is false.
 */
export async function totalsOf(
  plan: Plan,
  { withLoad, withMedian = true }: { readonly withLoad: boolean; readonly withMedian?: boolean },
  scheduler: CooperativeScheduler,
): Promise<CallTotals> {
  let requestedPoints = 0
  let aggregateWindows = 0
  const counting = ++totalsMade
  const reads: EstimatedRead[] = []
  const tags = new Set<number>()
  await forEach(plannedLabels(plan), scheduler, ({ size, reads: own }) => {
    requestedPoints += size.points
    aggregateWindows += size.windows
    for (const read of own) {
      if (read.countedIn === counting || (read.forMedian && !withMedian)) continue
      read.countedIn = counting
      reads.push(read)
      tags.add(read.number)
    }
  })
  const load = withLoad ? sumLoad(reads) : null
  return { requestedPoints, aggregateWindows, effectiveTags: tags.size, load }
}
