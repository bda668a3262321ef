import { issueOf } from '../errors/tidemark-error.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { PointAnswer } from './asked-point.ts'
import type { UnderstoodLabel, WrongLabel } from './call.ts'
import { executeRequest, noPoint, type Result } from './execute.ts'
import { Grids } from './grids.ts'
import type { Plan, PointLabel, SeriesLabel } from './plan.ts'
import type { CallSource } from './source.ts'

/** A label with what it is answered with. */
export interface ExecutedLabel {
  readonly understood: Pick<UnderstoodLabel, 'label' | 'address' | 'now' | 'zone'>
  readonly result: Result
}

/** What came of each label, in their order; at once where no historian has to be waited for. */
export function executeLabels(
  { labels, ledger }: Plan,
  source: CallSource,
  signal: AbortSignal,
): MaybePromise<readonly (ExecutedLabel | WrongLabel)[]> {
  const points = labels.filter((label) => label.kind === 'point')
  // Each of them planned one read; with other labels beside them, also wrong ones, the numbers would not say the same.
  if (points.length < labels.length || ledger.countReads() < labels.length) {
    return executeMixed(labels, points, source, signal)
  }
  const answers = source.allPoints(points)
  return answers instanceof Promise
    ? answers.then((found) => pointOutcomes(points, found, signal))
    : pointOutcomes(points, answers, signal)
}

async function executeMixed(
  labels: Plan['labels'],
  points: readonly PointLabel[],
  source: CallSource,
  signal: AbortSignal,
): Promise<readonly (ExecutedLabel | WrongLabel)[]> {
  const series = labels.filter((label) => label.kind === 'series')
  const pointsTold = points.length === 0 ? NO_ANSWERS : source.points(points)
  const grids = new Grids()
  const ofSeries =
    series.length === 0
      ? NO_OUTCOMES
      : await Promise.all(series.map((label) => executeLabel(label, grids, signal)))
  const answers = await pointsTold
  let point = 0
  let one = 0
  return labels.map((label) => {
    if (label.kind === 'wrong') return label
    return label.kind === 'series' ? ofSeries[one++]! : pointOutcome(label, answers[point++]!, signal)
  })
}

function pointOutcomes(
  points: readonly PointLabel[],
  answers: readonly PointAnswer[],
  signal: AbortSignal,
): readonly (ExecutedLabel | WrongLabel)[] {
  const outcomes: (ExecutedLabel | WrongLabel)[] = []
  for (let i = 0; i < points.length; i++) outcomes.push(pointOutcome(points[i]!, answers[i]!, signal))
  return outcomes
}

const NO_OUTCOMES: readonly (ExecutedLabel | WrongLabel)[] = []
const NO_ANSWERS: readonly PointAnswer[] = []

function pointOutcome(
  { understood, request }: PointLabel,
  { point, failure }: PointAnswer,
  signal: AbortSignal,
): ExecutedLabel | WrongLabel {
  if (failure !== null) return failed(understood, failure.error, signal)
  return { understood, result: { kind: 'point', point: point ?? noPoint(request.at) } }
}

async function executeLabel(
  { understood, series }: SeriesLabel,
  grids: Grids,
  signal: AbortSignal,
): Promise<ExecutedLabel | WrongLabel> {
  try {
    return { understood, result: await executeRequest(understood.request, series, grids, understood.zone) }
  } catch (error) {
    return failed(understood, error, signal)
  }
}

/** A label that could not be read. Throws past the deadline: no label has then failed by itself, the whole call has. */
function failed({ label, address }: UnderstoodLabel, error: unknown, signal: AbortSignal): WrongLabel {
  if (signal.aborted) throw signal.reason
  return { kind: 'wrong', label, issue: issueOf(error, { label, tag: address }), cause: error }
}
